// Builds what `docker build .` builds, as a folder, where there is no Docker: `node scripts/image/build-folder.ts FOLDER
// [--leave-out kafka,mssql,opcua]`. Says how large it is beside its base image. For root on Linux.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { FolderBuild, sizeOf } from './folder-image.ts'

const { values, positionals } = parseArgs({
  options: { 'leave-out': { type: 'string', default: '' } },
  allowPositionals: true,
})
const [folder] = positionals
if (folder === undefined) throw new Error('which folder is the image to be built in?')
mkdirSync(folder, { recursive: true })
const image = new FolderBuild({
  project: join(import.meta.dirname, '..', '..'),
  target: resolve(folder),
  buildArgs: { LEAVE_OUT: values['leave-out'] },
  say: (line) => process.stdout.write(`${line}\n`),
}).run()
const { onDiskMb, inFilesMb } = sizeOf(image.root)
process.stdout.write(`${image.root}: ${inFilesMb} MiB in files, ${onDiskMb} MiB on the disk\n`)
