import { describe, expect, test } from 'vitest'
import { type Heights, LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { NodesInTurn } from '../../src/ledgers/nodes/nodes-in-turn.ts'

/** A node that says how far it is, and was asked so often. */
class ToldNode {
  height: number
  asked = 0

  constructor(height: number) {
    this.height = height
  }

  readonly ask = async (): Promise<Heights> => {
    this.asked++
    if (Number.isNaN(this.height)) throw new Error('the node is away')
    return { head: this.height, final: this.height - 2 }
  }
}

function inTurn(nodes: readonly ToldNode[], heights?: Heights) {
  return new NodesInTurn<string, Heights>(
    nodes.map(({ ask }) => ask),
    heights,
  )
}

async function problemOf(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(LedgerUnreachable)
  return (error as LedgerUnreachable).message
}

const behind = (what: string, is: number, was: number) =>
  `the node is at the ${what} ${is}, and one has reported ${was} before: it lags behind, or its chain was begun again`

describe('nodes in turn', () => {
  test('know how far any has been, and forget nothing of that', async () => {
    const node = new ToldNode(7)
    const nodes = inTurn([node])
    expect(nodes.heights).toBeUndefined()
    await nodes.ask([])
    node.height = 5
    await nodes.ask([])
    expect(nodes.heights).toEqual({ head: 7, final: 5 })
  })

  test.each([
    [{ head: 9, final: 1 }, behind('block', 7, 9)],
    [{ head: 7, final: 6 }, behind('final block', 5, 6)],
  ])('are not believed where they are behind what was written down: %o', async (heights, why) => {
    const nodes = inTurn([new ToldNode(7)], heights)
    expect(await nodes.ask([])).toMatchObject({ isFresh: false })
    expect(await problemOf(nodes.askFresh([]))).toBe(why)
  })

  test('say why none of them is asked any further', async () => {
    const nodes = inTurn([new ToldNode(Number.NaN), new ToldNode(7)], { head: 9, final: 7 })
    const why = `the node is away; ${behind('block', 7, 9)}`
    expect(await problemOf(nodes.askFresh([]))).toBe(why)
  })

  test.each([
    ['that comes first', [7, 9]],
    ['that comes last', [9, 7]],
  ])('leave out one %s and lags behind', async (_, heights) => {
    const nodes = inTurn(
      heights.map((height) => new ToldNode(height)),
      { head: 9, final: 7 },
    )
    expect(await nodes.askFresh([])).toEqual({ head: 9, final: 7, isFresh: true })
    expect(await nodes.ask([])).toMatchObject({ head: 9 })
  })

  test('find out that one has stopped, although it answers', async () => {
    const [stopped, other] = [new ToldNode(7), new ToldNode(9)]
    const nodes = inTurn([stopped, other])
    await expect.poll(async () => (await nodes.askFresh([])).head, { interval: 1 }).toBe(9)
    expect(other.asked).toBeLessThan(5)
    expect(stopped.asked).toBeGreaterThan(20)
  })

  test('leave the others alone as long as there are new blocks', async () => {
    const [going, other] = [new ToldNode(7), new ToldNode(9)]
    const nodes = inTurn([going, other])
    for (let at = 0; at < 100; at++) {
      going.height++
      await nodes.ask([])
    }
    expect(other.asked).toBe(0)
  })
})
