import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageBlocks } from '../support/page-blocks.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { ShellSession } from '../support/shell-session.ts'
import { withoutVolatile } from '../support/shown-output.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const page = 'clients/typescript/README.md'

const service = runningService()
/** The project of somebody who uses the client: nothing of ours is above it. */
const project = new TemporaryFolder()
let shell: ShellSession

beforeAll(() => {
  // The folder of the service is where the page begins.
  shell = new ShellSession(resolve('.'), {
    PATH: `${resolve('node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
    PROJECT: project.path,
    API: service.process.http,
    API_KEY: adminKey,
    API_SECRET: adminSecret,
  })
})

afterAll(async () => {
  await shell.end()
  project[Symbol.dispose]()
})

/** What the compiler says of a file of the project, with the types that its installed packages have. */
function typeErrorsIn(file: string): string {
  const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')]
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', ...types]
  const words = [...options, '--target', 'es2023', file]
  const tsc = resolve('node_modules/.bin/tsc')
  return spawnSync(tsc, words, { cwd: project.path, encoding: 'utf8' }).stdout
}

describe(`the commands of ${page}`, () => {
  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, { language, label, text, output }) => {
      if (language === 'sh') {
        const printed = await shell.run(text)
        expect(withoutVolatile(printed)).toBe(withoutVolatile(output ?? ''))
      } else {
        writeFileSync(project.file(label), text)
      }
    },
  )
})

describe('the installed package', () => {
  test('has types that the example fits', () => {
    expect(typeErrorsIn('hourly.ts')).toBe('')
  })

  test('has types that refuse what the service would', () => {
    const source = readFileSync(project.file('hourly.ts'), 'utf8')
    writeFileSync(project.file('wrong.ts'), source.replace("'hourly'", '60'))
    writeFileSync(
      project.file('unknown.ts'),
      source.replace("'queryStreams', {", "'askStreams', {"),
    )

    expect(typeErrorsIn('wrong.ts')).toMatch(/wrong\.ts\(\d+,\d+\): error TS2322/)
    expect(typeErrorsIn('unknown.ts')).toMatch(/unknown\.ts\(\d+,\d+\): error TS2345/)
  })

  test('is compiled, and has no sources', async () => {
    const folder = join('node_modules', '@streamvault', 'client')
    const files = await shell.run(`find ${folder} -type f | sort`)
    expect(files).toContain(`${folder}/dist/call.js`)
    expect(files).toContain(`${folder}/LICENSE`)
    const names = files.trim().split('\n')
    expect(names.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([])
    const declarations = names.filter((file) => file.endsWith('.d.ts'))
    const imports = declarations.flatMap((file) =>
      [...readFileSync(project.file(file), 'utf8').matchAll(/ from '(.+)'/g)].map(
        ([, from]) => from,
      ),
    )
    expect(imports.length).toBeGreaterThan(0)
    expect(imports.filter((from) => !from?.endsWith('.js'))).toEqual([])
  })

  test('gives what the codes of failures mean, and what operations need', async () => {
    const program =
      "import { errorCatalogue } from '@streamvault/client/errors'\n" +
      "import { operationScopes } from '@streamvault/client/operations'\n" +
      'console.log(errorCatalogue.reading_rejected.status, operationScopes.pushReadings)\n'
    writeFileSync(project.file('catalogue.mjs'), program)
    expect(await shell.run('node catalogue.mjs')).toBe('422 data:write\n')
  })

  test('is under the licence of the service', () => {
    expect(readFileSync('clients/typescript/LICENSE', 'utf8')).toBe(readFileSync('LICENSE', 'utf8'))
  })
})
