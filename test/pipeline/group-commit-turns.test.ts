import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { started } from '../support/hand-journal.ts'

describe('GroupCommit', () => {
  test('keeps together what takes several turns, and keeps nobody from theirs', async () => {
    const { journal, commits, add } = started()
    const turns: number[] = []
    const steps = ['a', 'b', 'c'].map((letter) => () => {
      add(letter.repeat(700_000))
      turns.push(journal.appends.length)
    })
    const written = commits.togetherInTurns(steps)
    add('meanwhile')
    await turn()
    expect(journal.appends.map(({ texts }) => texts)).toEqual([['meanwhile']])
    await written
    journal.appends[0]?.succeed()
    await turn()
    await turn()
    expect(journal.appends.map(({ count }) => count)).toEqual([1, 3])
    expect(turns).toEqual([0, 0, 1])
  })

  test('keeps nothing of several turns of which one fails', async () => {
    const { journal, commits, add, settledTexts } = started()
    const steps = [
      () => add('first'),
      () => {
        throw new Error('not this one')
      },
    ]
    await expect(commits.togetherInTurns(steps)).rejects.toThrow('not this one')
    add('behind')
    await turn()
    expect(journal.appends.map(({ texts }) => texts)).toEqual([['behind']])
    expect(commits.waitingBytes).toBe(0)
    expect(settledTexts()).toEqual([])
  })
})
