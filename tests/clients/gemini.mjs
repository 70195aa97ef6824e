// SPDX-License-Identifier: LGPL-2.1-or-later
// node gemini.mjs PACKAGE COMMAND ARG...: COMMAND as gemini-cli would run it in
// the current directory, which it may write. FORBIDDEN names a path it may not see.
import { pathToFileURL } from 'node:url';
import { spawnSync } from 'node:child_process';

const [, , directory, command, ...args] = process.argv;
const { LinuxSandboxManager } = await import(pathToFileURL(
	`${directory}/dist/src/sandbox/linux/LinuxSandboxManager.js`).href);
const workspace = process.cwd();
const manager = new LinuxSandboxManager({
	workspace,
	modeConfig: { readonly: process.env.READONLY === '1', network: false },
	forbiddenPaths: async () => process.env.FORBIDDEN ? process.env.FORBIDDEN.split(':') : [],
});
const prepared = await manager.prepareCommand(
	{ command, args, cwd: workspace, env: process.env, policy: {} });
const run = spawnSync(prepared.program, prepared.args,
	{ cwd: prepared.cwd, env: prepared.env, stdio: 'inherit' });
prepared.cleanup?.();
process.exit(run.status ?? 255);
