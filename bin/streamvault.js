#!/usr/bin/env node
// Starts the command line on a Node that can run it, with the flags and variables that `npm start` gives
// to the service. Plain JavaScript of the older kind, because the Node that npx finds may be an old one.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isRecentEnough, manifest, refuseOldNode, refuseUnlessInstalled, root } from './installed.js'

const main = join(root, 'bin', 'start.js')
refuseUnlessInstalled()

/** What stands in the start script, the one place where it is written: flags, and `NAME=value` before them. */
const startWords = manifest.scripts.start.split(' ')
const startFlags = startWords.filter((word) => word.startsWith('--'))
const startVariables = Object.fromEntries(
  startWords
    .slice(0, startWords.indexOf('node'))
    .filter((word) => word.includes('='))
    .map((word) => word.split('=')),
)

/** Becomes the other program; where that is not possible, runs it and passes on signals. */
function become(program, parameters, env) {
  if (process.execve) process.execve(program, [program, ...parameters], env)
  const child = spawn(program, parameters, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal))
  }
  // What npx runs is run by a shell, which signals end without reaching us.
  const { ppid } = process
  const isGone = () => process.env.npm_command === 'exec' && process.ppid !== ppid
  setInterval(() => isGone() && child.kill('SIGTERM'), 250).unref()
  child.on('exit', (code) => process.exit(code === null ? 1 : code))
}

const own = join(root, 'node_modules', 'node', 'bin', 'node')
const node = isRecentEnough() ? process.execPath : own
if (existsSync(node)) {
  const parameters = process.argv.slice(2)
  const isService = parameters[0] === 'serve'
  const flags = isService ? startFlags : []
  const environment = isService ? { ...startVariables, ...process.env } : process.env
  become(node, [...flags, main, ...parameters], environment)
} else refuseOldNode()
