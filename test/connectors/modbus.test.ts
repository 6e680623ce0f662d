import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createServer } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { modbusPoll } from '../../connectors/modbus/modbus-poll.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { makeAuthority } from '../support/certificate.ts'
import { ModbusDevice, pollOnce } from '../support/modbus-device.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

let device: ModbusDevice

beforeAll(async () => {
  device = await ModbusDevice.start()
  device.set('holding', 100, [215, 48])
  device.set('holding', 200, [7])
  device.set('holding', 100, [190], 2)
  device.set('input', 100, [65_535])
})

afterAll(async () => await device[Symbol.asyncDispose]())

beforeEach(() => {
  device.asked.length = 0
  device.connectionsMax = 0
  device.exception = undefined
})

const temperature = { field: 'temperature', address: 100, scale: 0.1 }
const humidity = { field: 'humidity', address: 101 }

const source = (...registers: readonly object[]) => ({ endpoint: device.endpoint, registers })

const failure = async (polled: Promise<unknown>) => {
  const error = await polled.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error as Error
}

describe('a device of Modbus', () => {
  test('is read once for neighbours, and for each unit and table', async () => {
    const others = [
      { field: 'supply', address: 100, unitId: 2, scale: 0.1 },
      { field: 'level', kind: 'input', address: 100, type: 'int16' },
    ]
    expect(JSON.parse(await pollOnce(source(humidity, temperature, ...others)))).toEqual({
      temperature: 21.5,
      humidity: 48,
      supply: 19,
      level: -1,
    })
    expect(device.connectionsMax).toBe(1)
    expect(device.asked.toSorted()).toEqual([
      'holding 100 of 1',
      'holding 100 of 2',
      'holding 101 of 1',
      'input 100 of 1',
    ])
  })

  test('is asked for its unit 1, unless another one is said', async () => {
    const registers = [temperature]
    expect(await pollOnce({ ...source(...registers), unitId: 2 })).toBe('{"temperature":19}')
    expect(device.asked).toEqual(['holding 100 of 2'])
    const own = { ...temperature, unitId: 1 }
    expect(await pollOnce({ ...source(own), unitId: 2 })).toBe('{"temperature":21.5}')
  })

  test('is not asked for registers that nobody wants, unless that is allowed', async () => {
    const registers = [temperature, { field: 'mode', address: 103 }]
    device.set('holding', 103, [3])
    expect(JSON.parse(await pollOnce(source(...registers)))).toMatchObject({ mode: 3 })
    expect(device.asked).toEqual(['holding 100 of 1', 'holding 103 of 1'])
    const bold = pollOnce({ ...source(...registers), maxGap: 2 })
    await expect(bold).rejects.toThrow('holding 100 to 103 of unit 1 (temperature, mode)')
  })

  test('is left when a round ends', async () => {
    await pollOnce(source(temperature))
    await expect.poll(() => device.connections).toBe(0)
    device.exception = 6
    await failure(pollOnce(source(temperature)))
    await expect.poll(() => device.connections).toBe(0)
  })

  test.each([
    [1, 'illegal function'],
    [2, 'illegal data address'],
    [3, 'illegal data value'],
  ])('refuses for somebody to mend it, with exception %i', async (exception, text) => {
    device.exception = exception
    const error = await failure(pollOnce(source(temperature)))
    expect(error).toBeInstanceOf(SourceRefused)
    expect(error.message).toBe(
      `the device does not give holding 100 of unit 1 (temperature): ${text}`,
    )
  })

  test.each([
    [4, 'server device failure'],
    [5, 'acknowledge: it needs more time'],
    [6, 'server device busy'],
    [10, 'gateway path unavailable'],
    [11, 'gateway target device failed to respond'],
    [99, 'exception 99'],
  ])('is asked again later, after exception %i', async (exception, text) => {
    device.exception = exception
    const error = await failure(pollOnce(source(temperature)))
    expect(error).not.toBeInstanceOf(SourceRefused)
    expect(error.message).toContain(text)
  })

  test('names a few of many fields that it does not give', async () => {
    const registers = Array.from({ length: 9 }, (_, index) => ({
      field: `f${index}`,
      address: 900 + index,
    }))
    const error = await failure(pollOnce(source(...registers)))
    expect(error.message).toContain('holding 900 to 908 of unit 1 (f0, f1, f2, f3, f4, ...)')
  })
})

describe('those who want the same device', () => {
  test('take turns', async () => {
    const connector = modbusPoll()
    const polls = Array.from({ length: 8 }, () => pollOnce(source(temperature), { connector }))
    expect(await Promise.all(polls)).toEqual(Array(8).fill('{"temperature":21.5}'))
    expect(device.connectionsMax).toBe(1)
  })

  test('need not wait for one that fails, or for one that is gone while it waits', async () => {
    const connector = modbusPoll()
    const gone = new AbortController()
    const failing = failure(pollOnce(source({ field: 'none', address: 1 }), { connector }))
    const waiting = failure(pollOnce(source(temperature), { connector, signal: gone.signal }))
    const last = pollOnce(source(temperature), { connector })
    gone.abort(new Error('stopped'))
    expect((await waiting).message).toBe('stopped')
    expect(await last).toBe('{"temperature":21.5}')
    expect(await failing).toBeInstanceOf(SourceRefused)
  })
})

describe('Modbus over TLS', () => {
  const folder = new TemporaryFolder()
  afterAll(() => folder[Symbol.dispose]())

  /** Does the TLS for the device, and wants a certificate of its clients. */
  async function secured() {
    const authority = makeAuthority(folder.path, 'plant')
    const ca = readFileSync(authority.certPath, 'utf8')
    const server = createServer({
      ...authority.signServer('IP:127.0.0.1'),
      ca,
      requestCert: true,
      rejectUnauthorized: true,
    })
    server.on('secureConnection', (socket) => {
      const inner = connect(device.port, '127.0.0.1')
      for (const end of [socket, inner]) end.on('error', () => undefined)
      socket.pipe(inner).pipe(socket)
    })
    const port = await freePort()
    await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
    const { cert, key } = authority.sign('streamvault')
    const credentials = { certificate: cert, privateKey: key }
    const endpoint = `modbus+tls://127.0.0.1:${port}`
    return { server, whole: { endpoint, registers: [temperature], tls: { ca }, credentials } }
  }

  test('shows a certificate, and takes none that it does not trust', async () => {
    const { server, whole } = await secured()
    try {
      expect(await pollOnce(whole)).toBe('{"temperature":21.5}')
      const { credentials: _, ...stranger } = whole
      expect((await failure(pollOnce(stranger))).message).toMatch(/certificate|closed|reset/i)
      const { tls: __, ...trusting } = whole
      expect((await failure(pollOnce(trusting))).message).toMatch(/certificate|issuer/i)
    } finally {
      server.close()
    }
  })
})

const destinationOf = (endpoint: string) => modbusPoll().destinationOf({ endpoint })

test('a port that nobody names is that of Modbus', () => {
  expect(destinationOf('modbus://plc')).toEqual({ host: 'plc', port: 502 })
  expect(destinationOf('modbus+tls://plc')).toEqual({ host: 'plc', port: 802 })
  expect(destinationOf('modbus://[::1]:1502')).toEqual({ host: '::1', port: 1502 })
})
