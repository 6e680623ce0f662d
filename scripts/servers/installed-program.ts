import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toolsFolder } from './questdb-jar.ts'

/** Where shells look, and where the scripts that install tools put what no package has. */
const folders = [...(process.env['PATH'] ?? '').split(':'), join(toolsFolder, 'bin')]

/** Where a program is installed. */
export function installedProgram(name: string): string | undefined {
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}
