import { spawnSync } from 'node:child_process'

/** What it is built of: this, and all that this needs. */
const entry = 'console/src/main.tsx'

/** Builds the page, unless it is built already: services find it where `npm start` looks for it. */
export function buildConsole(): void {
  const words = ['scripts/build-console.js', '--strict']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${entry} cannot be built: ${stdout}${stderr}`)
}
