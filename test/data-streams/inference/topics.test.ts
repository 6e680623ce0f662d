import { describe, expect, test } from 'vitest'
import { inferTopics } from '../../../src/streams/inference/topics.ts'

function topics(...all: readonly (string | undefined)[]) {
  return inferTopics(
    all.map((topic) => {
      return { context: topic === undefined ? {} : { topic }, names: new Set(['temperature']) }
    }),
  )
}

describe('topics of messages', () => {
  test.each([
    [['tele/a/SENSOR', 'tele/a/SENSOR'], 'tele/a/SENSOR', []],
    [['tele/a/SENSOR', 'tele/b/SENSOR'], 'tele/+/SENSOR', [1]],
    [['a/1/x', 'b/2/x'], '+/+/x', [0, 1]],
    [['a/b', 'a/b/c'], 'a/b/#', []],
    [['streams/1/data'], undefined, []],
    [['$SYS/x'], undefined, []],
    [['a', undefined], undefined, []],
  ])('%j have the filter %s', (all, filter, varying) => {
    const found = topics(...all)

    expect(found.filter).toBe(filter)
    expect(found.varying.map(({ index }) => index)).toEqual(varying)
  })

  test('of subjects make no filter of MQTT', () => {
    const context = { topic: 'plant.a.temperature', separator: '.' } as const

    expect(inferTopics([{ context, names: new Set() }]).filter).toBeUndefined()
  })

  test('name a kind where what comes on them has other members', () => {
    const found = inferTopics([
      { context: { topic: 'a/STATE' }, names: new Set(['uptime']) },
      { context: { topic: 'a/SENSOR' }, names: new Set(['power']) },
    ])

    expect(found).toMatchObject({ hasKinds: true, varying: [{ index: 1, isSender: false }] })
  })
})
