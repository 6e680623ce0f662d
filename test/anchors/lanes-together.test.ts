import { expect, test } from 'vitest'
import type { LaneFigures } from '../../src/anchors/pursuit/lane-needs.ts'
import { figuresByNetwork } from '../../src/anchors/pursuit/lanes-together.ts'

function lane(network: string, problem: string | undefined, count: number): LaneFigures {
  return { network, problem, signed: count, completed: 10 * count, inFlight: 100 * count }
}

test('lanes of one network are told of together, with the first problem', () => {
  const lanes = [
    lane('sandbox', undefined, 1),
    lane('xrpl:1', undefined, 2),
    lane('xrpl:1', 'no money', 3),
    lane('xrpl:1', 'no key', 4),
  ]

  expect(figuresByNetwork(lanes)).toEqual([
    lane('sandbox', undefined, 1),
    lane('xrpl:1', 'no money', 9),
  ])
})
