import { spawnSync } from 'node:child_process'

/** Builds the page, once for all files of tests: services find it where `npm start` looks for it. */
export function setup(): void {
  const words = ['scripts/build-console.js', '--strict']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the console cannot be built: ${stdout}${stderr}`)
}
