import { afterAll, expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import type { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { decided, nowUs } from '../support/decided-journal.ts'
import { TestState } from '../support/test-state.ts'
import { acceptedReading } from '../support/written-entries.ts'

const streamId = newId<StreamId>()

const tests = await TestState.open()
afterAll(async () => await tests[Symbol.asyncDispose]())

test('the decider is in a hurry, and takes no larger rounds, as long as readings come by that rules want to see', async () => {
  const rule = { id: 'hot', field: 'temperature', operator: '>', threshold: 80 }
  const reading = (version: number, index: number) => (writer: EntryWriter) => {
    const values = '{"temperature":20}'
    const digest = String(index).padStart(16, '0')
    const taken = acceptedReading({ timestampUs: nowUs + index, values, digest })
    writer.accepted({ streamId, version }, taken, nowUs)
  }
  const urgent: boolean[] = []
  const wanted: number[] = []
  const journal = {
    streamId,
    versions: [[], [rule], []],
    entries: [reading(1, 0), reading(2, 1), reading(2, 2), reading(3, 3)],
  }
  await decided(tests, journal, [1], ({ isUrgent, entriesWanted }) => {
    urgent.push(isUrgent)
    wanted.push(entriesWanted)
  })

  expect(urgent).toEqual([false, true, true, false])
  expect(wanted).toEqual([10, 0, 0, 10])
})
