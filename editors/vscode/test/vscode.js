// A stand-in for VS Code: as much of it as the extension and vscode-languageclient use. What is not
// here is a class that holds what it was given, or a function that does nothing.

const { pathToFileURL, fileURLToPath } = require("node:url");

const disposable = () => ({ dispose() {} });

class Emitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener, self) => {
      const bound = listener.bind(self);
      this.listeners.add(bound);
      return { dispose: () => this.listeners.delete(bound) };
    };
  }
  fire(value) {
    for (const listener of [...this.listeners]) listener(value);
  }
  dispose() {
    this.listeners.clear();
  }
}

class Uri {
  constructor(text) {
    const url = new URL(text);
    this.text = text;
    this.scheme = url.protocol.slice(0, -1);
    this.path = decodeURIComponent(url.pathname);
    this.fsPath = this.scheme === "file" ? fileURLToPath(text) : this.path;
  }
  toString() {
    return this.text;
  }
  static parse(text) {
    return new Uri(text);
  }
  static file(path) {
    return new Uri(pathToFileURL(path).href);
  }
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(...places) {
    const [start, end] = places.length === 2 ? places : [
      new Position(places[0], places[1]), new Position(places[2], places[3]),
    ];
    Object.assign(this, { start, end });
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class Kind {
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new Kind(this.value ? `${this.value}.${part}` : part);
  }
}

class CancellationTokenSource {
  constructor() {
    this.token = { isCancellationRequested: false, onCancellationRequested: disposable };
  }
  cancel() {}
  dispose() {}
}

/** The rest: classes for names with a capital, functions for others. */
const lenient = (known, made = {}) =>
  new Proxy(known, {
    get(target, name) {
      if (name in target || typeof name === "symbol" || name === "then") return target[name];
      made[name] ??= /^[A-Z]/.test(name)
        ? class { constructor(...values) { this.values = values; } }
        : disposable;
      return made[name];
    },
  });

const opened = new Emitter();
const changed = new Emitter();
const published = new Emitter();
const commands = new Map();
let settings = {};
let folders = [];
const documents = [];

function configuration(section) {
  const named = Object.entries(settings).filter(([name]) => name.startsWith(`${section}.`));
  const values = Object.fromEntries(named.map(([name, value]) => [name.slice(section.length + 1), value]));
  return { ...values, get: (name, otherwise) => values[name] ?? otherwise, has: (name) => name in values };
}

module.exports = lenient({
  version: "1.90.0",
  EventEmitter: Emitter,
  Uri,
  Position,
  Range,
  Diagnostic,
  CancellationTokenSource,
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
  CodeActionKind: Object.assign(Kind, { Empty: new Kind(""), QuickFix: new Kind("quickfix") }),
  env: lenient({ appName: "stand-in", language: "en" }),
  extensions: { getExtension: () => undefined },
  commands: lenient({
    registerCommand(name, call) {
      commands.set(name, call);
      return disposable();
    },
    executeCommand: async (name, ...values) => commands.get(name)?.(...values),
  }),
  window: lenient({
    visibleTextEditors: [],
    tabGroups: lenient({ all: [] }),
    createOutputChannel: () => ({
      append: (text) => process.stderr.write(text),
      appendLine: (text) => process.stderr.write(`${text}\n`),
      show() {}, clear() {}, dispose() {}, replace() {},
    }),
    showErrorMessage: async (text) => { process.stderr.write(`${text}\n`); },
    showWarningMessage: async (text) => { process.stderr.write(`${text}\n`); },
  }),
  workspace: lenient({
    get workspaceFolders() { return folders; },
    get textDocuments() { return documents; },
    notebookDocuments: [],
    getConfiguration: (section) => configuration(section ?? ""),
    getWorkspaceFolder: () => folders[0],
    createFileSystemWatcher: () =>
      lenient({ onDidCreate: disposable, onDidChange: disposable, onDidDelete: disposable }),
    onDidOpenTextDocument: opened.event,
    onDidChangeTextDocument: changed.event,
  }),
  languages: lenient({
    match: (selector, document) =>
      [selector].flat().some((each) => each.language === document.languageId) ? 10 : 0,
    createDiagnosticCollection: () => ({
      set: (uri, diagnostics) => published.fire({ uri, diagnostics }),
      delete() {}, clear() {}, dispose() {}, forEach() {}, has: () => false,
    }),
  }),
  /** What a test does in place of a person. */
  person: {
    begin(folder, chosen) {
      folders = [{ uri: Uri.file(folder), name: "folder", index: 0 }];
      settings = chosen;
    },
    open(path, text) {
      const uri = Uri.file(path);
      const document = { uri, fileName: path, languageId: "python", version: 1, isClosed: false };
      documents.push(Object.assign(document, { getText: () => text }));
      opened.fire(document);
      return uri;
    },
    published: published.event,
    run: (name) => commands.get(name)(),
  },
});
