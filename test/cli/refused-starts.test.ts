import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { streamvault } from '../support/command-line.ts'
import { startedServices } from '../support/started-services.ts'

const { newFolder } = startedServices()
const run = promisify(execFile)

async function refusal(settings: Readonly<Record<string, string>>): Promise<string> {
  const { code, stderr } = await streamvault(['serve'], {
    STREAMVAULT_HTTP_PORT: '0',
    STREAMVAULT_MQTT_PORT: '0',
    STREAMVAULT_DATA_DIR: newFolder(),
    ...settings,
  })
  expect(code).toBe(1)
  return stderr
}

describe('a start that is refused says in one line what to do', () => {
  test.each(['STREAMVAULT_HTTP_PORT', 'STREAMVAULT_MQTT_PORT'])(
    'where the port of %s is taken',
    async (setting) => {
      const taken = createServer().listen(0, '127.0.0.1')
      await once(taken, 'listening')
      const { port } = taken.address() as { readonly port: number }

      const said = await refusal({ [setting]: `${port}` })
      taken.close()

      expect(said).toBe(
        `streamvault: cannot go on: 127.0.0.1:${port} is taken by another process; ` +
          `set ${setting} to another port, or end what listens there: ss -ltnp\n`,
      )
    },
  )

  test('where the address is none of this machine', async () => {
    expect(await refusal({ STREAMVAULT_HOST: '192.0.2.1' })).toBe(
      'streamvault: cannot go on: 192.0.2.1 is not an address of this machine; ' +
        'set STREAMVAULT_HOST to an address of this machine, or to 0.0.0.0\n',
    )
  })

  test('where the data folder is a file', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')

    expect(await refusal({ STREAMVAULT_DATA_DIR: file })).toBe(
      `streamvault: cannot go on: ${file} is not a folder; set STREAMVAULT_DATA_DIR to a folder\n`,
    )
  })

  test('where the data folder would be in a file system without a place for it', async () => {
    expect(await refusal({ STREAMVAULT_DATA_DIR: '/proc/streamvault/data' })).toBe(
      'streamvault: cannot go on: no folder can be made in /proc; ' +
        'set STREAMVAULT_DATA_DIR to a folder on a disk\n',
    )
  })

  test('where a file of the data folder cannot be opened', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'lock.db'))

    expect(await refusal({ STREAMVAULT_DATA_DIR: folder })).toBe(
      'streamvault: cannot go on: unable to open database file; ' +
        `let the user who runs the service read and write every file in ${folder}: chown -R\n`,
    )
  })
})

describe('without packages', () => {
  // The Node of the system may be older than the one that npm ci brings.
  const nodes = [process.execPath, '/usr/bin/node'].filter((path) => existsSync(path))
  const starts = [
    ['npm start', ['bin/start.js', 'serve']],
    ['the command line', ['bin/streamvault.js', 'doctor']],
    ['the demo', ['bin/demo.js']],
  ] as const

  test.each(nodes.flatMap((node) => starts.map(([name, words]) => [name, node, words] as const)))(
    '%s names the command that brings them, with %s',
    async (_, node, words) => {
      const folder = join(newFolder(), 'fresh')
      mkdirSync(folder)
      cpSync('bin', join(folder, 'bin'), { recursive: true })
      cpSync('package.json', join(folder, 'package.json'))

      const failed = await run(node, words, { cwd: folder }).catch(
        (error: unknown) => error as { readonly code: number; readonly stderr: string },
      )

      expect(failed).toMatchObject({
        code: 1,
        stderr: `streamvault cannot start: packages are missing: run npm ci in ${folder}\n`,
      })
    },
  )
})

describe('a command that is mistyped', () => {
  test.each([
    [['stream', 'list'], 'streams list'],
    [['docter'], 'doctor'],
    [['keys', 'crate'], 'keys create'],
  ])('%j has %s suggested', async (words, meant) => {
    const { code, stderr } = await streamvault(words, {})

    expect(code).toBe(2)
    expect(stderr).toBe(
      `streamvault: there is no command ${words.join(' ')}: did you mean ${meant}?\n`,
    )
  })

  test('has none where nothing is near', async () => {
    const { stderr } = await streamvault(['frobnicate'], {})

    expect(stderr).toBe(
      'streamvault: there is no command frobnicate: streamvault --help shows all commands\n',
    )
  })
})
