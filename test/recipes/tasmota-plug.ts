import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wallTime, wave } from './signals.ts'

/** Over the night in which clocks are put forward: there is no 02:30 on that wall. */
const startMs = marchMs + 27.5 * 86_400_000

/** A fridge that is on for a while, and off for a while; the meter says 0 without decimals then. */
function stateOf(index: number) {
  const atMs = startMs + index * 300_000
  const isOn = index % 9 < 4
  const power = isOn ? wave(index, { mean: 84, swing: 6, period: 40, digits: 0 }) : 0
  const voltage = wave(index, { mean: 231, swing: 4, period: 60, digits: 0 })
  const current = Number((power / voltage / 0.92).toFixed(3))
  const factor = isOn ? 0.92 : 0
  const total = Number((196.708 + index * 0.003).toFixed(3))
  const today = Number((1.2 + index * 0.003).toFixed(3))
  return { atMs, power, voltage, current, factor, total, today }
}

export const tasmotaPlug: Recipe = {
  name: 'tasmota-plug',
  front: 'mqtt',
  messages: series((index) => {
    const { atMs, power, voltage, current, factor, total, today } = stateOf(index)
    const apparent = Math.round(current * voltage)
    const energy =
      `"TotalStartTime":"2022-09-24T18:51:27","Total":${total.toFixed(3)},` +
      `"Yesterday":2.013,"Today":${today.toFixed(3)},"Period": ${power === 0 ? 0 : 7},` +
      `"Power":${String(power).padStart(2)},"ApparentPower":${String(apparent).padStart(2)},` +
      `"ReactivePower":${String(Math.round(apparent * 0.39)).padStart(2)},` +
      `"Factor":${factor.toFixed(2)},"Voltage":${voltage},"Current":${current.toFixed(3)}`
    const time = wallTime(atMs, 'Europe/Berlin')
    return { topic: 'tele/fridge/SENSOR', payload: `{"Time":"${time}","ENERGY":{${energy}}}` }
  }),
  expected: (index) => {
    const { atMs, power, voltage, current, factor, total, today } = stateOf(index)
    const timestamp = stored(atMs)
    return [{ timestamp, power, voltage, current, power_factor: factor, total, today }]
  },
}
