import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TemporaryFolder } from './temporary-folder.ts'

/** What the compiler says of a source that may import files of the project by their whole paths. */
export function typeErrorsIn(source: string): readonly string[] {
  using folder = new TemporaryFolder()
  writeFileSync(folder.file('source.mts'), source)
  writeFileSync(
    folder.file('tsconfig.json'),
    JSON.stringify({
      extends: join(process.cwd(), 'tsconfig.json'),
      compilerOptions: {
        typeRoots: [join(process.cwd(), 'node_modules', '@types')],
        rewriteRelativeImportExtensions: false,
        allowImportingTsExtensions: true,
      },
      include: ['source.mts'],
    }),
  )
  const { stdout, error } = spawnSync('node_modules/.bin/tsc', ['-p', folder.path], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (error) throw error
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}
