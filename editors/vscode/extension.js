// Starts `torchlint server` and lets vscode-languageclient talk to it.

const { execFile } = require("node:child_process");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const INSTALL =
  'Install it from a checkout with `pip install ".[server]"`, or set `torchlint.path`.';
const STARTS = ["torchlint.path", "torchlint.interpreter", "torchlint.args"];

let client;
let output;
/** Each start and stop waits for the one before it. */
let last = Promise.resolve();

async function activate(context) {
  output = vscode.window.createOutputChannel("torchlint");
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("torchlint.restart", () => restart(context)),
    vscode.commands.registerCommand("torchlint.fixAll", fixAll),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (STARTS.some((name) => event.affectsConfiguration(name))) {
        return restart(context);
      }
    }),
  );
  const environments = await pythonEnvironments();
  if (environments) {
    context.subscriptions.push(
      environments.onDidChangeActiveEnvironmentPath(() => restart(context)),
    );
  }
  await restart(context);
}

async function deactivate() {
  last = last.then(stop);
  await last;
}

function restart(context) {
  last = last.then(stop).then(() => start(context)).catch(complain);
  return last;
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.needsStop()) {
    await running.stop();
  }
}

async function start(context) {
  // Python imports modules from the folder that it starts in, so never start it in a checked folder.
  // The server changes to the folder of the workspace itself.
  const options = { cwd: context.extensionPath };
  const run = { ...(await command(options)), options };
  output.appendLine(`Starts ${[run.command, ...run.args].join(" ")}`);
  client = new LanguageClient("torchlint", "torchlint", run, {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
    ],
    outputChannel: output,
    synchronize: { configurationSection: "torchlint" },
  });
  await client.start();
}

/** The command that starts the server: from the settings, else the selected Python, else PATH. */
async function command(options) {
  const settings = vscode.workspace.getConfiguration("torchlint");
  const words = ["server", ...settings.get("args", [])];
  const path = settings.get("path", "");
  if (path) {
    return { command: path, args: words };
  }
  const interpreter = settings.get("interpreter", "");
  if (interpreter) {
    return { command: interpreter, args: ["-m", "torchlint", ...words] };
  }
  const selected = await selectedPython();
  if (selected && (await hasTorchlint(selected, options))) {
    return { command: selected, args: ["-m", "torchlint", ...words] };
  }
  return { command: "torchlint", args: words };
}

async function pythonEnvironments() {
  const python = vscode.extensions.getExtension("ms-python.python");
  if (!python) {
    return undefined;
  }
  return (await python.activate())?.environments ?? python.exports?.environments;
}

async function selectedPython() {
  const environments = await pythonEnvironments();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const active = environments?.getActiveEnvironmentPath(folder);
  const resolved = active && (await environments.resolveEnvironment(active));
  return resolved?.executable?.uri?.fsPath;
}

function hasTorchlint(python, options) {
  return new Promise((resolve) => {
    execFile(python, ["-m", "torchlint", "server", "--help"], options, (error) => resolve(!error));
  });
}

function fixAll() {
  const wanted = { kind: "source.fixAll.torchlint", apply: "first" };
  return vscode.commands.executeCommand("editor.action.sourceAction", wanted);
}

function complain(error) {
  output.appendLine(String(error?.stack ?? error));
  vscode.window.showErrorMessage(`torchlint did not start. ${INSTALL}`);
}

module.exports = { activate, deactivate };
