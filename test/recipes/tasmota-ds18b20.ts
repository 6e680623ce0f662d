import { type Recipe, series } from './recipe.ts'
import { marchMs, present, stored, wallTime, wave } from './signals.ts'

/** Messages before the second sensor is found: the first one has no number until then. */
const aloneMax = 30

/** The first sensor has a loose wire; Tasmota writes null for what it cannot read. */
function stateOf(index: number) {
  const isAlone = index < aloneMax
  return {
    atMs: marchMs + index * 60_000,
    isAlone,
    flow: index % 37 === 5 ? null : wave(index, { mean: 48, swing: 12, period: 30, digits: 1 }),
    return: isAlone ? null : wave(index, { mean: 0.5, swing: 9, period: 50, digits: 1 }),
  }
}

/** As the firmware writes it, with one decimal: -0.0 is none of a float that was rounded to 0. */
function written(value: number | null): string {
  return value === null ? 'null' : value.toFixed(1)
}

export const tasmotaDs18b20: Recipe = {
  name: 'tasmota-ds18b20',
  front: 'mqtt',
  messages: series((index) => {
    const { atMs, isAlone, ...values } = stateOf(index)
    const first = `{"Id":"01212F95C31B","Temperature":${written(values.flow)}}`
    const second = `{"Id":"01212F9704FD","Temperature":${written(values.return)}}`
    const sensors = isAlone ? `"DS18B20":${first}` : `"DS18B20-1":${first},"DS18B20-2":${second}`
    const time = wallTime(atMs, 'Europe/Berlin')
    return {
      topic: 'tele/boiler/SENSOR',
      payload: `{"Time":"${time}",${sensors},"TempUnit":"C"}`,
    }
  }),
  expected: (index) => {
    const { atMs, isAlone: _, ...values } = stateOf(index)
    return [{ timestamp: stored(atMs), ...present(values) }]
  },
}
