import type { LaneFigures } from './lane-needs.ts'

/** Figures of lanes by network: sums of those that go to the same one, and the first problem. */
export function figuresByNetwork(lanes: readonly LaneFigures[]): readonly LaneFigures[] {
  const byNetwork = Map.groupBy(lanes, ({ network }) => network)
  return [...byNetwork].map(([network, some]) => ({
    network,
    problem: some.find(({ problem }) => problem !== undefined)?.problem,
    signed: sumOf(some, 'signed'),
    completed: sumOf(some, 'completed'),
    inFlight: sumOf(some, 'inFlight'),
  }))
}

function sumOf(lanes: readonly LaneFigures[], name: 'signed' | 'completed' | 'inFlight'): number {
  return lanes.reduce((sum, lane) => sum + lane[name], 0)
}
