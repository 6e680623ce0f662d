import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'

const isMosquittoMissing = spawnSync('mosquitto_sub', ['--help']).error !== undefined

let end: (() => Promise<number | null>) | undefined

afterEach(async () => {
  await end?.()
})

interface RunningDemo {
  /** What it has printed until it says how it is ended. */
  readonly introduction: string
  /** What it has printed by now. */
  readonly printed: () => string
}

/** The demo, once it runs. */
async function startDemo(settings: Readonly<Record<string, string>>): Promise<RunningDemo> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('STREAMVAULT_'))
  const child = spawn('npm', ['run', 'demo', '--', '--devices', '2', '--rate', '20'], {
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close').then(([code]) => code as number | null)
  end = async () => {
    child.kill('SIGINT')
    return await exited
  }
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  return await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (!printed.includes('Ctrl-C ends the demo.')) return
      resolve({ introduction: printed, printed: () => printed })
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

test('the demo shows lines that work and an alert that arrives, and cleans up when it is ended', async () => {
  const { introduction, printed } = await startDemo({
    STREAMVAULT_HTTP_PORT: '0',
    STREAMVAULT_MQTT_PORT: String(await freePort()),
  })
  const lines = introduction.split('\n').filter((line) => line.startsWith('  curl '))
  const listen = introduction.split('\n').find((line) => line.includes('mosquitto_sub')) ?? ''
  const folder = /its data is in (\S+)\./.exec(introduction)?.[1] ?? ''
  const console = /The console is at (\S+) /.exec(introduction)?.[1] ?? ''

  const [tail = '', data = '', status = '', quarantine = ''] = lines
  expect(await outputOf(tail)).toMatch(/^retry: \d+\nid: /)
  // The devices have only just begun.
  while (!(await outputOf(status)).includes('"status":"active"')) continue
  while (!(await outputOf(data)).includes('"temperature":')) continue
  if (isMosquittoMissing && !process.env['CI']) process.stderr.write(`Not run: ${listen}\n`)
  else expect(await outputOf(listen)).toMatch(/^streams\/[0-9a-f-]{36}\/data \{.*"temperature":/)
  expect(await outputOf(quarantine)).toContain('"entries":[')
  expect((await fetch(console)).status).toBe(200)
  await expect
    .poll(printed)
    .toMatch(/^\S+Z stream\.alert_triggered device \d: temperature .*; the signature is valid$/m)
  expect(existsSync(folder)).toBe(true)
  expect(await end?.()).toBe(0)
  expect(existsSync(folder)).toBe(false)
  expect(printed()).toMatch(
    /\nThe demo ran for \d+ s: \d+ readings were sent and \d+ acknowledged; [1-9]\d* alerts arrived\.\n$/,
  )
})

test('where its ports are in use, the demo takes others', async () => {
  // An address of this machine that is not the one of other tests: its ports are ours.
  const host = '127.77.0.1'
  const others = [8080, 1883].map((port) => createServer().listen(port, host))
  await Promise.all(others.map((other) => once(other, 'listening')))
  try {
    const { introduction } = await startDemo({ STREAMVAULT_HOST: host })

    expect(introduction).toMatch(/The service runs at http:\/\/127\.77\.0\.1:(?!8080)\d+,/)
    expect(introduction).toMatch(/mosquitto_sub -h 127\.77\.0\.1 -p (?!1883 )\d+ /)
    expect(await end?.()).toBe(0)
  } finally {
    for (const other of others) other.close()
  }
})

test.each([
  [['--help'], 0, /^Usage: npm run demo -- \[OPTIONS\]\n[\s\S]*--devices N/, /^$/],
  [
    ['--nope'],
    2,
    /^$/,
    /^the demo cannot start: there is no option --nope: --help shows all options\n$/,
  ],
])('the demo with %j starts nothing', (words, code, stdout, stderr) => {
  const result = spawnSync(process.execPath, ['bin/demo.js', ...words], { encoding: 'utf8' })

  expect(result.status).toBe(code)
  expect(result.stdout).toMatch(stdout)
  expect(result.stderr).toMatch(stderr)
})
