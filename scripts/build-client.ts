import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientFolder } from './client/client-files.ts'

/* Compiles the client for those who install it as a package: `npm run build:client`. */

const built = join(clientFolder, 'dist')
rmSync(built, { recursive: true, force: true })
const project = join(clientFolder, 'tsconfig.build.json')
const { status, error } = spawnSync('node_modules/.bin/tsc', ['-p', project], { stdio: 'inherit' })
if (error) throw error
if (status !== 0) throw new Error(`tsc -p ${project} has failed`)

// The compiler rewrites the endings of imports in JavaScript only: declarations would name files that are not there.
for (const file of globSync(join(built, '*.d.ts'))) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
}
