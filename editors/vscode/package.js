// Packages the extension under the version of torchlint; in package.json, there is none. Arguments go
// to `vsce package`, such as `--out FILE`.

const { execFileSync } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const home = join(__dirname, "..", "..", "torchlint", "version.py");
const version = /^__version__ = "(.+)"$/m.exec(readFileSync(home, "utf8"))[1];
const words = ["--yes", "@vscode/vsce@3.9.2", "package", version, "--no-update-package-json"];
execFileSync("npx", [...words, ...process.argv.slice(2)], { stdio: "inherit", cwd: __dirname });
