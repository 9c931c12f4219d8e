// Activates the extension with a stand-in for VS Code, opens a slow script, and prints the diagnostics
// that the real server publishes for it. An argument names the folder of another extension than this
// one, such as an unpacked .vsix.

const { mkdtempSync, rmSync } = require("node:fs");
const Module = require("node:module");
const { tmpdir } = require("node:os");
const { join, resolve } = require("node:path");

const SCRIPT = `import torch


def train(model, loader, optimizer, device):
    total = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = model(images.to(device), labels.to(device)).sum()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
`;
const LIMIT_MS = 120_000;

const stand_in = join(__dirname, "vscode.js");
const usual = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  return name === "vscode" ? stand_in : usual.call(this, name, ...rest);
};

async function main() {
  const python = process.env.TORCHLINT_PYTHON ?? "python3";
  const home = resolve(process.argv[2] ?? join(__dirname, ".."));
  const vscode = require("vscode");
  const extension = require(home);
  const folder = mkdtempSync(join(tmpdir(), "torchlint-"));
  const context = { subscriptions: [], extensionPath: home };
  vscode.person.begin(folder, { "torchlint.interpreter": python, "torchlint.args": ["--no-cache"] });
  try {
    await extension.activate(context);
    for (const command of [undefined, "torchlint.restart"]) {
      if (command) await vscode.person.run(command);
      const found = new Promise((done) => {
        vscode.person.published((note) => note.diagnostics.length && done(note.diagnostics));
      });
      if (!command) vscode.person.open(join(folder, "train.py"), SCRIPT);
      for (const each of await found) {
        const place = each.range.start;
        const code = each.code?.value ?? each.code;
        console.log(`${place.line + 1}:${place.character + 1} ${code} ${each.message}`);
      }
    }
  } finally {
    await extension.deactivate();
    rmSync(folder, { recursive: true });
  }
}

setTimeout(() => {
  console.error("The server says nothing.");
  process.exit(2);
}, LIMIT_MS).unref();

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
