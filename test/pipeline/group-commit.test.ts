import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { type Append, started } from '../support/hand-journal.ts'

const full = new DomainError('journal_full', 'no space left', { retryAfter: 1 })

describe('GroupCommit', () => {
  test('keeps together what belongs together, however much it is', async () => {
    const { journal, commits, add } = started()
    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(700_000))
    add('before')
    commits.together(() => texts.forEach(add))
    add('behind')
    await turn()
    expect(journal.appends.map(({ count }) => count)).toEqual([4])
    journal.appends[0]?.succeed()
    await turn()
    await turn()
    expect(journal.appends.map(({ texts: [first] }) => first)).toEqual(['before', 'behind'])
  })

  test('appends together what came in one turn of the event loop', async () => {
    const { journal, add } = started()
    for (const text of ['a', 'b', 'c']) add(text)
    await turn()

    expect(journal.appends).toMatchObject([{ texts: ['a', 'b', 'c'], count: 3 }])
  })

  test('settles nothing before the append has ended', async () => {
    const { journal, add, settledTexts } = started()
    add('a')
    await turn()
    expect(settledTexts()).toEqual([])

    journal.appends[0]?.succeed()
    await turn()
    expect(settledTexts()).toEqual(['a'])
  })

  test('groups what queues up while the journal is busy with one append or two', async () => {
    const { journal, add } = started()
    const texts = ['a', 'b', 'c', 'd', 'e']
    for (const text of texts) {
      add(text)
      await turn()
    }
    const busy = journal.open.size
    expect([1, 2]).toContain(busy)

    journal.appends[0]?.succeed()
    await turn()
    expect(journal.appends.map((append) => append.texts)).toEqual([
      ...texts.slice(0, busy).map((text) => [text]),
      texts.slice(busy),
    ])
  })

  test('settles in the order of arrival, whichever append ends first', async () => {
    const { journal, add, settledTexts } = started()
    add('a')
    await turn()
    add('b')
    await turn()
    while (journal.open.size > 0) {
      ;[...journal.open].at(-1)?.succeed()
      await turn()
    }

    expect(settledTexts()).toEqual(['a', 'b'])
  })

  test('settles a message without entries after what came before it', async () => {
    const { journal, commits, add, settled, settledTexts } = started()
    add('a')
    await turn()
    commits.add(
      () => {},
      (error) => settled.push({ text: 'nothing', error }),
    )
    await turn()
    expect(settledTexts()).toEqual([])

    journal.appends[0]?.succeed()
    await turn()
    expect(settledTexts()).toEqual(['a', 'nothing'])
  })

  test('tells a failure to the messages of its batch and to no others', async () => {
    const { journal, add, settled } = started()
    add('a')
    add('b')
    await turn()
    add('c')
    await turn()
    journal.appends[0]?.fail(full)
    await turn()
    journal.appends[1]?.succeed()
    await turn()

    expect(settled).toEqual([
      { text: 'a', error: full },
      { text: 'b', error: full },
      { text: 'c', error: undefined },
    ])
  })

  test('goes on after a failure that may pass', async () => {
    const { journal, commits, add, settled } = started()
    add('a')
    await turn()
    journal.appends[0]?.fail(full)
    await turn()
    add('b')
    await turn()
    journal.appends[1]?.succeed()
    await turn()

    expect(settled[1]).toEqual({ text: 'b', error: undefined })
    expect(commits.failure).toBeUndefined()
    expect(() => commits.assertReady()).not.toThrow()
  })

  test('refuses everything after a failure that does not pass', async () => {
    const { journal, commits, add } = started()
    const broken = new DomainError('journal_unavailable', 'the disk failed')
    add('a')
    await turn()
    journal.appends[0]?.fail(broken)
    await turn()

    expect(() => commits.assertReady()).toThrow(broken)
    expect(commits.failure).toBe(broken)
  })

  test('takes an unexpected error for one that does not pass', async () => {
    const { journal, commits, add, settled } = started()
    const cause = new Error('the thread has ended')
    add('a')
    await turn()
    journal.appends[0]?.fail(cause)
    await turn()

    expect(settled[0]?.error).toMatchObject({ code: 'journal_unavailable', cause })
    expect(() => commits.assertReady()).toThrow('the thread has ended')
  })

  test('refuses, for now, while more than 64 MiB wait for the disk', async () => {
    const { journal, commits, add } = started()
    const mebibyte = 1024 * 1024
    while (commits.waitingBytes <= 64 * mebibyte) {
      expect(() => commits.assertReady()).not.toThrow()
      add('x'.repeat(mebibyte))
      await turn()
    }
    const refusal = expect.objectContaining({ code: 'overloaded', retryAfter: 1 })
    expect(() => commits.assertReady()).toThrow(refusal)

    journal.appends[0]?.succeed()
    await turn()
    expect(() => commits.assertReady()).not.toThrow()
  })

  test('drains once all that was added before is settled', async () => {
    const { journal, commits, add, settledTexts } = started()
    add('a')
    const drained = commits.drain().then(() => settledTexts())
    await turn()
    journal.appends[0]?.succeed()

    expect(await drained).toEqual(['a'])
  })

  test('counts the batches that are on disk, and none that were empty or failed', async () => {
    const { journal, commits, add } = started()
    await commits.drain()
    expect(commits.committed).toBe(0)

    add('a')
    await turn()
    journal.appends[0]?.succeed()
    await turn()
    add('b')
    await turn()
    journal.appends[1]?.fail(full)
    await turn()
    expect(commits.committed).toBe(1)
  })

  test('tells everybody else, and goes on, when somebody who is told fails', async () => {
    const { journal, commits, add, settledTexts } = started()
    using thrown = thrownMeanwhile()
    add('a')
    commits.add(
      () => undefined,
      () => {
        throw new Error('nobody there')
      },
    )
    add('b')
    await turn()
    journal.appends[0]?.succeed()
    await turn()
    add('c')
    await turn()
    journal.appends[1]?.succeed()
    await commits.drain()

    expect(settledTexts()).toEqual(['a', 'b', 'c'])
    expect(thrown.messages).toEqual(['nobody there'])
  })

  test('settles each message once and in order, with the outcome of the append it was in', async () => {
    const action = fc.record({
      kind: fc.constantFrom('add', 'add', 'end'),
      pick: fc.nat(1),
      fails: fc.boolean(),
    })
    const scenario = fc.asyncProperty(fc.array(action, { maxLength: 25 }), async (actions) => {
      const { journal, add, settled } = started()
      const added: string[] = []
      const failed = new Set<string>()
      const end = (append: Append | undefined, fails: boolean) => {
        if (fails) for (const text of append?.texts ?? []) failed.add(text)
        if (fails) append?.fail(full)
        else append?.succeed()
      }
      for (const { kind, pick, fails } of actions) {
        if (kind === 'end') end([...journal.open][pick], fails)
        else added.push(String(added.length))
        if (kind === 'add') add(added.at(-1) ?? '')
        await turn()
        expect(journal.open.size).toBeLessThanOrEqual(2)
      }
      while (journal.open.size > 0) {
        end([...journal.open].at(-1), false)
        await turn()
      }

      expect(journal.appends.flatMap(({ texts }) => texts)).toEqual(added)
      expect(settled).toEqual(
        added.map((text) => ({ text, error: failed.has(text) ? full : undefined })),
      )
    })
    await fc.assert(scenario)
  })
})

/** What is thrown with nobody waiting for it, which else would end the run of the tests. */
function thrownMeanwhile() {
  const others = process.listeners('uncaughtException')
  const messages: string[] = []
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', ({ message }) => messages.push(message))
  return {
    messages,
    [Symbol.dispose]() {
      process.removeAllListeners('uncaughtException')
      for (const other of others) process.on('uncaughtException', other)
    },
  }
}
