import { describe, expect, test } from 'vitest'
import {
  type EdgeNode,
  type SparkplugStep,
  sparkplugStep,
  unknownNode,
} from '../../processors/sparkplug.ts'
import { decodeSparkplugPayload, rebirthCommand } from '../../processors/sparkplug-payload.ts'
import {
  commandTopicOf,
  parseSparkplugTopic,
  type SparkplugTopic,
  seesWholeNodes,
} from '../../processors/sparkplug-topic.ts'
import { type Metric, metric, payloadOf, readPayload } from '../support/sparkplug-payloads.ts'

const ms = Date.UTC(2026, 0, 1)

/** An edge node with a stream that hears it. */
class Heard {
  node: EdgeNode = unknownNode
  readonly #seesAll: boolean

  constructor(seesAll = true) {
    this.#seesAll = seesAll
  }

  send(path: string, metrics: readonly Metric[], seq?: number): SparkplugStep {
    const [type, device] = path.split(' ')
    const end = device === undefined ? '' : `/${device}`
    const topic = parseSparkplugTopic(`spBv1.0/plant/${type}/node7${end}`) as SparkplugTopic
    const rest = seq === undefined ? {} : { seq }
    const payload = decodeSparkplugPayload(payloadOf(metrics, rest))
    if (typeof payload === 'string') throw new Error(payload)
    const step = sparkplugStep(this.node, { topic, payload }, this.#seesAll)
    this.node = step.node
    return step
  }
}

const named = (step: SparkplugStep) => step.metrics.map(({ name, datatype }) => [name, datatype])

const bdSeq = (value: number) => metric('UInt64', value, { name: 'bdSeq' })
const birth = [bdSeq(3), metric('Double', 1, { name: 'Temperature', alias: 1 })]
const deviceBirth = [metric('Int32', -5, { name: 'Level', alias: 2 })]
const data = [metric('Double', 2, { alias: 1 })]
const deviceData = [metric('Int32', -6, { alias: 2 })]

function born(): Heard {
  const heard = new Heard()
  heard.send('NBIRTH', birth, 0)
  heard.send('DBIRTH pump', deviceBirth, 1)
  return heard
}

function many(count: number, rest: Partial<Metric> = {}): Metric[] {
  return Array.from({ length: count }, (_, alias) =>
    metric('Int8', 1, { name: `m${alias}`, alias, ...rest }),
  )
}

describe('an edge node', () => {
  test('says at its births what its aliases are', () => {
    const heard = new Heard()

    const first = heard.send('NBIRTH', birth, 0)
    expect(first).toMatchObject({ event: 'birth', needsRebirth: false, unknownAliases: [] })
    expect(named(first)).toEqual([
      ['bdSeq', 8],
      ['Temperature', 10],
    ])
    heard.send('DBIRTH pump', deviceBirth, 1)

    expect(named(heard.send('NDATA', data, 2))).toEqual([['Temperature', 10]])
    expect(heard.send('DDATA pump', deviceData, 3)).toMatchObject({
      event: 'data',
      needsRebirth: false,
      metrics: [{ name: 'Level', datatype: 3 }],
    })
  })

  test('counts to 255 and begins with 0 again', () => {
    const heard = born()
    for (let seq = 2; seq < 300; seq++) {
      expect(heard.send('NDATA', data, seq % 256)).toMatchObject({ needsRebirth: false })
    }
  })

  test('that has lost a message is asked for its births, and its aliases are good no more', () => {
    const heard = born()

    const gap = heard.send('NDATA', [...data, metric('Int8', 1, { name: 'Named' })], 3)
    expect(gap).toMatchObject({ event: 'gap', needsRebirth: true, unknownAliases: [1n] })
    expect(named(gap)).toEqual([['Named', 1]])
    expect(heard.send('NDATA', data, 4)).toMatchObject({ needsRebirth: true, unknownAliases: [1n] })
    heard.send('NBIRTH', birth, 0)
    expect(heard.send('NDATA', data, 1)).toMatchObject({ needsRebirth: false })
  })

  test('that says a message again has lost nothing', () => {
    const heard = born()
    heard.send('NDATA', data, 2)

    expect(heard.send('NDATA', data, 2)).toMatchObject({ event: 'data', unknownAliases: [] })
    expect(heard.send('NDATA', data, 3)).toMatchObject({ event: 'data', unknownAliases: [] })
  })

  test('that has not said its births is asked for them', () => {
    expect(new Heard().send('NDATA', data, 7)).toMatchObject({
      needsRebirth: true,
      unknownAliases: [1n],
    })
    expect(new Heard().send('DBIRTH pump', deviceBirth, 1)).toMatchObject({ needsRebirth: true })
  })

  test('that is dead is asked for its births when it speaks', () => {
    const heard = born()

    expect(heard.send('NDEATH', [bdSeq(3)])).toMatchObject({ event: 'death', metrics: [] })
    expect(heard.node.state).toBe('offline')
    expect(heard.send('NDATA', data, 2)).toMatchObject({ needsRebirth: true, unknownAliases: [1n] })
  })

  test('lives on when the death of an earlier session comes late', () => {
    const heard = born()

    expect(heard.send('NDEATH', [bdSeq(2)])).toMatchObject({ event: 'stale_death' })
    expect(heard.send('NDATA', data, 2)).toMatchObject({ needsRebirth: false })
  })

  test('forgets the metrics of a device that is dead, and of one that is born again', () => {
    const heard = born()

    expect(heard.send('DDEATH pump', [], 2)).toMatchObject({ event: 'death', metrics: [] })
    expect(heard.send('DDATA pump', deviceData, 3)).toMatchObject({ unknownAliases: [2n] })
    heard.send('DBIRTH pump', [metric('Double', 1, { name: 'Other', alias: 9 })], 4)
    expect(heard.send('DDATA pump', deviceData, 5)).toMatchObject({ unknownAliases: [2n] })
    expect(heard.send('NDATA', data, 6)).toMatchObject({ unknownAliases: [] })
  })

  test('of which a device is born again has no other aliases of it', () => {
    const heard = born()

    heard.send('DBIRTH pump', [metric('Double', 1, { name: 'Other', alias: 9 })], 2)
    expect(heard.send('DDATA pump', deviceData, 3)).toMatchObject({ unknownAliases: [2n] })
  })

  test('of which only a device is heard may leave numbers out', () => {
    const heard = new Heard(false)

    expect(heard.send('DBIRTH pump', deviceBirth, 4)).toMatchObject({ needsRebirth: false })
    expect(heard.send('DDATA pump', deviceData, 9)).toMatchObject({
      event: 'data',
      needsRebirth: false,
      unknownAliases: [],
    })
    expect(heard.send('DDATA fan', [metric('Int8', 1, { alias: 77 })], 12)).toMatchObject({
      needsRebirth: true,
      unknownAliases: [77n],
    })
  })

  test('has so many metrics at most, whatever its births say', () => {
    const heard = new Heard()
    heard.send('NBIRTH', many(9_999), 0)

    heard.send('DBIRTH pump', many(3), 1)
    expect(heard.node.metrics).toBe(10_000)
    expect(heard.send('DDATA pump', many(3, { name: null }), 2)).toMatchObject({
      unknownAliases: [1n, 2n],
    })
    heard.send('DDEATH pump', [], 3)
    expect(heard.node.metrics).toBe(9_999)
  })

  test('takes commands, which are no news of it', () => {
    const heard = born()
    expect(heard.send('NCMD', data)).toMatchObject({ event: 'command', metrics: [] })
    expect(heard.send('NDATA', data, 2)).toMatchObject({ needsRebirth: false })
  })
})

test('a request for births is a command that the library can read', () => {
  expect(readPayload(rebirthCommand(ms * 1_000))).toMatchObject({
    metrics: [{ name: 'Node Control/Rebirth', type: 'Boolean', value: true }],
  })
})

describe('a topic', () => {
  test.each([
    ['spBv1.0/plant/NDATA/node7', { group: 'plant', type: 'NDATA', node: 'node7' }],
    ['spBv1.0/plant/DDATA/node7/pump', { type: 'DDATA', device: 'pump' }],
  ])('%s', (topic, expected) => {
    expect(parseSparkplugTopic(topic)).toMatchObject(expected)
  })

  test.each([
    'spBv1.0/plant/NDATA',
    'spBv1.0/plant/NDATA/',
    'spBv1.0/plant/NDATA/node7/pump',
    'spBv1.0/plant/DDATA/node7',
    'spBv1.0/plant/DDATA/node7/pump/x',
    'spAv1.0/plant/NDATA/node7',
    'spBv1.0//NDATA/node7',
    'spBv1.0/STATE/host',
    'plants/7',
  ])('%s is none of Sparkplug', (topic) => {
    expect(parseSparkplugTopic(topic)).toBeUndefined()
  })

  test('of commands is that of the node', () => {
    const topic = parseSparkplugTopic('spBv1.0/plant/DDATA/node7/pump') as SparkplugTopic
    expect(commandTopicOf(topic)).toBe('spBv1.0/plant/NCMD/node7')
  })

  test.each([
    ['spBv1.0/plant/+/node7/#', true],
    ['spBv1.0/plant/#', true],
    ['#', true],
    ['+/+/+/+/#', true],
    ['spBv1.0/plant/+/+/pump', false],
    ['spBv1.0/plant/+/node7', false],
    ['spBv1.0/plant/DDATA/node7/#', false],
    ['spBv1.0/plant/+/node7/pump/#', false],
    ['', false],
  ])('filter %s lets all of a node through: %s', (filter, all) => {
    expect(seesWholeNodes(filter)).toBe(all)
  })
})

describe('what is remembered of births', () => {
  test('is limited where one name has many aliases', () => {
    const heard = born()
    const aliases = Array.from({ length: 6_000 }, (_, alias) =>
      metric('Int8', 1, { name: 'Level', alias }),
    )
    heard.send('DBIRTH tank', aliases, 2)
    const { unknownAliases } = heard.send('DBIRTH valve', aliases, 3)
    expect(unknownAliases).toEqual([])
    const late = heard.send('DDATA valve', [metric('Int8', 1, { alias: 5_999 })], 4)
    expect(late.unknownAliases).toEqual([5_999n])
  })

  test('is limited where names are long', () => {
    const heard = born()
    const long = metric('Int8', 1, { name: 'x'.repeat(2_000_000), alias: 9 })
    heard.send('DBIRTH tank', [long], 2)
    const late = heard.send('DDATA tank', [metric('Int8', 1, { alias: 9 })], 3)
    expect(late.unknownAliases).toEqual([9n])
  })

  test('has no nodes with endless names', () => {
    expect(parseSparkplugTopic(`spBv1.0/plant/NDATA/${'n'.repeat(60_000)}`)).toBeUndefined()
  })
})
