import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'

const isMosquittoMissing = spawnSync('mosquitto_sub', ['--help']).error !== undefined

let end: (() => Promise<number | null>) | undefined

afterEach(async () => {
  await end?.()
})

/** What the demo has printed once it runs. */
async function startDemo(): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('STREAMVAULT_'))
  const child = spawn('npm', ['run', 'demo', '--', '--devices', '2', '--rate', '20'], {
    env: {
      ...Object.fromEntries(inherited),
      STREAMVAULT_HTTP_PORT: '0',
      STREAMVAULT_MQTT_PORT: String(await freePort()),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  end = async () => {
    child.kill('SIGINT')
    return await exited
  }
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  return await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.includes('Ctrl-C ends the demo.')) resolve(printed)
    })
    void exited.then(() => reject(new Error(printed)))
  })
}

/** Runs a line of the demo as a person would who copies it, until it has printed something. */
async function outputOf(line: string): Promise<string> {
  const child = spawn('sh', ['-c', `exec ${line.trim()}`], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
  child.kill()
  return chunk.toString()
}

test('the demo shows lines that work, and cleans up when it is ended', async () => {
  const printed = await startDemo()
  const lines = printed.split('\n').filter((line) => line.startsWith('  curl '))
  const listen = printed.split('\n').find((line) => line.includes('mosquitto_sub')) ?? ''
  const folder = /its data is in (\S+)\./.exec(printed)?.[1] ?? ''

  const [tail = '', data = '', status = '', quarantine = ''] = lines
  expect(await outputOf(tail)).toMatch(/^retry: \d+\nid: /)
  // The devices have only just begun.
  while (!(await outputOf(status)).includes('"status":"active"')) continue
  while (!(await outputOf(data)).includes('"temperature":')) continue
  if (isMosquittoMissing && !process.env['CI']) process.stderr.write(`Not run: ${listen}\n`)
  else expect(await outputOf(listen)).toMatch(/^streams\/[0-9a-f-]{36}\/data \{.*"temperature":/)
  expect(await outputOf(quarantine)).toContain('"entries":[')
  expect(existsSync(folder)).toBe(true)
  expect(await end?.()).toBe(0)
  expect(existsSync(folder)).toBe(false)
})
