import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource, unsupportedSource } from '../../../src/streams/data-streams/source.ts'

const level = { field: 'level', address: 100 }

const whole = {
  protocol: 'modbus',
  endpoint: 'modbus://plc.example:1502',
  unitId: 255,
  byteOrder: 'big',
  wordOrder: 'little',
  registers: [
    { ...level, kind: 'input', type: 'float32', scale: 0.1, offset: -40 },
    { field: 'timestamp', address: 0, type: 'uint32', wordOrder: 'big', unitId: 0 },
    { field: 'name', address: 65_535, type: 'string', length: 2, byteOrder: 'little' },
    { field: 'flow', address: 9, type: 'int16', missing: [-32_768, 0x8000, '0x7FFF'] },
    { field: 'door', kind: 'coil', address: 65_535 },
    { field: 'fault', address: 7, type: 'bool', bit: 15 },
  ],
  maxGap: 10,
  schedule: '*/5 * * * * *',
  timezone: 'Europe/Berlin',
  jitter: '2s',
  timeout: '1m',
  timestampFormat: 'epoch_s',
}

function wrongIn(changes: object, type: 'manufacturing' | 'iot_sensor' = 'manufacturing') {
  const found: ErrorDetail[] = []
  parseSource({ ...whole, ...changes }, type, found)
  return found.map(({ path }) => path)
}

describe('a source of registers', () => {
  test.each(['manufacturing', 'building_systems', 'occupancy'] as const)('can be of %s', (type) => {
    const found: ErrorDetail[] = []
    const source = parseSource(whole, type, found)
    expect(found).toEqual([])
    expect(unsupportedSource(type, source)).toEqual([])
  })

  test('is of no other type', () => {
    expect(wrongIn({}, 'iot_sensor')).toContain('source.protocol')
  })

  test.each<[object, string]>([
    [{ endpoint: undefined }, 'endpoint'],
    [{ endpoint: 'plc:502' }, 'endpoint'],
    [{ endpoint: 'modbus://me:secret@plc' }, 'endpoint'],
    [{ endpoint: 'modbus://plc:502/1' }, 'endpoint'],
    [{ endpoint: 'modbus://plc:502?unit=1' }, 'endpoint'],
    [{ endpoint: 'modbus://plc:70000' }, 'endpoint'],
    [{ unitId: 256 }, 'unitId'],
    [{ byteOrder: 'middle' }, 'byteOrder'],
    [{ maxGap: 126 }, 'maxGap'],
    [{ schedule: undefined }, 'schedule'],
    [{ timeout: '2m' }, 'timeout'],
    [{ timeout: '1h' }, 'timeout'],
    [{ timeout: 5 }, 'timeout'],
    [{ tls: {} }, 'tls'],
    [{ credentials: { certificate: '********', privateKey: '********' } }, 'credentials'],
    [{ format: 'json' }, 'format'],
    [{ eventTypes: { a: { b: { type: 'number' } } } }, 'eventTypes'],
    [{ topic: 'a' }, 'topic'],
    [{ registers: undefined }, 'registers'],
    [{ registers: [] }, 'registers'],
    [{ registers: { level } }, 'registers'],
    [{ registers: Array.from({ length: 257 }, () => level) }, 'registers'],
  ])('cannot have %j: %s is named', (changes, key) => {
    expect(wrongIn(changes)).toEqual([`source.${key}`])
  })

  test.each<[object, string]>([
    [{ field: 'a-b' }, 'field'],
    [{ field: 'streamId' }, 'field'],
    [{ field: undefined }, 'field'],
    [{ address: 65_536 }, 'address'],
    [{ address: 65_535, type: 'float32' }, 'address'],
    [{ address: 65_535, type: 'string', length: 3 }, 'address'],
    [{ address: 40_001.5 }, 'address'],
    [{ kind: 'register' }, 'kind'],
    [{ type: 'int24' }, 'type'],
    [{ kind: 'coil', type: 'uint16' }, 'type'],
    [{ kind: 'discrete', scale: 2 }, 'scale'],
    [{ type: 'string' }, 'length'],
    [{ type: 'string', length: 251 }, 'length'],
    [{ length: 2 }, 'length'],
    [{ type: 'uint16', wordOrder: 'big' }, 'wordOrder'],
    [{ type: 'uint16', bit: 1 }, 'bit'],
    [{ type: 'bool', bit: 16 }, 'bit'],
    [{ scale: 0 }, 'scale'],
    [{ scale: '0.1' }, 'scale'],
    [{ type: 'bool', offset: 1 }, 'offset'],
    [{ unitId: -1 }, 'unitId'],
    [{ unit: 'degC' }, 'unit'],
    [{ missing: [] }, 'missing'],
    [{ missing: 65_535 }, 'missing'],
    [{ missing: Array<number>(21).fill(1) }, 'missing'],
    [{ missing: [null] }, 'missing'],
    [{ missing: ['65535'] }, 'missing'],
    [{ missing: ['0x'] }, 'missing'],
    [{ missing: [65_536] }, 'missing.0'],
    [{ missing: [0, -1] }, 'missing.1'],
    [{ missing: ['0x10000'] }, 'missing.0'],
    [{ type: 'int16', missing: [-32_769] }, 'missing.0'],
    [{ type: 'int32', missing: [0.5] }, 'missing.0'],
    [{ type: 'float32', missing: [1e39] }, 'missing.0'],
    [{ type: 'bool', missing: [1] }, 'missing'],
    [{ kind: 'coil', missing: [1] }, 'missing'],
    [{ type: 'string', length: 2, missing: [1] }, 'missing'],
  ])('cannot have a register with %j: %s is named', (changes, key) => {
    const registers = [
      { field: 'other', address: 0 },
      { ...level, ...changes },
    ]
    expect(wrongIn({ registers })).toEqual([`source.registers.1.${key}`])
  })

  test('has each field once, and only objects as registers', () => {
    const again = { field: 'LEVEL', address: 200 }
    expect(wrongIn({ registers: [level, again] })).toEqual(['source.registers.1.field'])
    expect(wrongIn({ registers: [level, 100] })).toEqual(['source.registers.1'])
  })

  test('is secured with certificates, and with nothing else', () => {
    const endpoint = 'modbus+tls://plc.example'
    expect(wrongIn({ endpoint, tls: { servername: 'plc' } })).toEqual([])
    const marked = { certificate: '********', privateKey: '********' }
    expect(wrongIn({ endpoint, credentials: marked })).toEqual([])
    const others = { username: 'me', password: 'secret' }
    expect(wrongIn({ endpoint, credentials: { ...marked, ...others } })).toEqual([
      'source.credentials.username',
      'source.credentials.password',
    ])
    expect(wrongIn({ endpoint, credentials: { certificate: '********' } })).toContain(
      'source.credentials.privateKey',
    )
  })
})
