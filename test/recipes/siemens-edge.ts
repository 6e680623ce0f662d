import { type Recipe, series } from './recipe.ts'
import { marchMs, wave } from './signals.ts'

/** A cycle of the PLC: every tag has the same time, with seven decimals; the level is sent on change only. */
function stateOf(index: number) {
  const whole = new Date(marchMs + index * 1_000).toISOString().slice(0, 19)
  const decimals = String((219_440 + index * 100_003) % 10_000_000).padStart(7, '0')
  return {
    sent: `${whole}.${decimals}Z`,
    timestamp: `${whole}.${decimals.slice(0, 6)}Z`,
    level:
      index % 5 === 0 ? wave(index, { mean: 50, swing: 50, period: 90, digits: 3 }) : undefined,
    pieces: 1_091 + index,
    running: index % 30 < 27,
  }
}

export const siemensEdge: Recipe = {
  name: 'siemens-edge',
  front: 'broker',
  messages: series((index) => {
    const { sent, level, pieces, running } = stateOf(index)
    const value = (id: number, val: unknown) =>
      `{"id":"${id}","qc":3,"ts":"${sent}","val":${String(val)}}`
    const values = [value(102, pieces), value(103, running)]
    if (level !== undefined) values.unshift(value(101, level))
    return {
      topic: 'ie/d/j/simatic/v1/s7c1/dp/r/PLC_1/default',
      payload: `{"seq":${12_571 + index},"vals":[${values.join(',')}]}`,
    }
  }),
  expected: (index) => {
    const { timestamp, level, pieces, running } = stateOf(index)
    return [{ timestamp, ...(level !== undefined && { level }), pieces, running }]
  },
}
