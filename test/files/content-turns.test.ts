import { describe, expect, test } from 'vitest'
import { ContentTurns } from '../../src/files/contents/content-turns.ts'

/** Work that goes on until it is told to end, and says when it has begun. */
function held() {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const work = async () => {
    begun.resolve()
    await end.promise
  }
  return { work, begun: begun.promise, end: end.resolve }
}

async function fails(): Promise<never> {
  throw new Error('no')
}

describe('the turns of contents', () => {
  test('let a removal begin when nobody takes any more', async () => {
    const turns = new ContentTurns()
    const order: string[] = []
    const [first, second] = [held(), held()]
    const taking = [turns.take(first.work), turns.take(second.work)]
    const removing = turns.remove(async () => order.push('removed'))
    first.end()
    await taking[0]
    order.push('first is over')
    second.end()
    await removing

    expect(order).toEqual(['first is over', 'removed'])
    await Promise.all(taking)
  })

  test('keep nobody who takes waiting for a removal that waits itself', async () => {
    const turns = new ContentTurns()
    const long = held()
    const taking = turns.take(long.work)
    const removing = turns.remove(async () => undefined)

    await turns.take(async () => undefined)

    long.end()
    await Promise.all([taking, removing])
  })

  test('keep whoever takes waiting while something is being removed', async () => {
    const turns = new ContentTurns()
    const order: string[] = []
    const removal = held()
    const removing = turns.remove(async () => {
      await removal.work()
      order.push('removed')
    })
    await removal.begun
    const taking = turns.take(async () => order.push('taken'))
    removal.end()
    await Promise.all([removing, taking])

    expect(order).toEqual(['removed', 'taken'])
  })

  test('let a removal begin that has waited for long, however many come to take', async () => {
    const turns = new ContentTurns(20)
    const long = held()
    const taking = turns.take(long.work)
    const order: string[] = []
    const removing = turns.remove(async () => order.push('removed'))
    // One after the other, until the next is kept waiting.
    const state = { isWaiting: false }
    const next = async () => {
      for (;;) {
        const timer = setTimeout(() => (state.isWaiting = true), 200)
        await turns.take(async () => undefined)
        clearTimeout(timer)
        if (state.isWaiting) return order.push('taken')
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const coming = next()
    await expect.poll(() => state.isWaiting).toBe(true)
    long.end()
    await Promise.all([taking, removing, coming])

    expect(order).toEqual(['removed', 'taken'])
  })

  test('go on after work that fails', async () => {
    const turns = new ContentTurns()
    await expect(turns.take(fails)).rejects.toThrow('no')
    await expect(turns.remove(fails)).rejects.toThrow('no')
    expect(await turns.take(async () => 1)).toBe(1)
    expect(await turns.remove(async () => 2)).toBe(2)
  })
})
