import { type FleetRecipe, series } from './recipe.ts'
import { marchMs, stored, wallTime, wave } from './signals.ts'

const plugs = ['fridge', 'freezer', 'washer', 'tasmota_5D2C4A', 'boiler-2']

function plugOf(index: number): string {
  return plugs[index % plugs.length] ?? ''
}

/** Each plug sends by a timer of its own; every seventh message is about something else. */
function stateOf(index: number) {
  const isOn = index % 9 < 4
  const power = isOn ? wave(index, { mean: 84, swing: 6, period: 40, digits: 0 }) : 0
  const voltage = wave(index, { mean: 231, swing: 4, period: 60, digits: 0 })
  return {
    isReading: index % 7 !== 4,
    atMs: marchMs + index * 12_000,
    power,
    voltage,
    current: Number((power / voltage / 0.92).toFixed(3)),
    power_factor: isOn ? 0.92 : 0,
    total: Number((196.708 + index * 0.003).toFixed(3)),
    today: Number((1.2 + index * 0.003).toFixed(3)),
  }
}

type State = ReturnType<typeof stateOf>

function energyOf({ power, voltage, current, power_factor: factor, total, today }: State): string {
  const apparent = Math.round(current * voltage)
  return (
    `"TotalStartTime":"2022-09-24T18:51:27","Total":${total.toFixed(3)},` +
    `"Yesterday":2.013,"Today":${today.toFixed(3)},"Period": ${power === 0 ? 0 : 7},` +
    `"Power":${String(power).padStart(2)},"ApparentPower":${String(apparent).padStart(2)},` +
    `"ReactivePower":${String(Math.round(apparent * 0.39)).padStart(2)},` +
    `"Factor":${factor.toFixed(2)},"Voltage":${voltage},"Current":${current.toFixed(3)}`
  )
}

export const tasmotaFleet: FleetRecipe = {
  name: 'tasmota-fleet',
  front: 'mqtt',
  messages: series((index) => {
    const state = stateOf(index)
    const time = wallTime(state.atMs, 'Europe/Berlin')
    const plug = plugOf(index)
    if (!state.isReading) return { topic: `tele/${plug}/STATE`, payload: stateMessage(time, index) }
    const payload = `{"Time":"${time}","ENERGY":{${energyOf(state)}}}`
    return { topic: `tele/${plug}/SENSOR`, payload }
  }),
  expected: (index) => {
    const { isReading, atMs, ...reading } = stateOf(index)
    return isReading ? [{ timestamp: stored(atMs), ...reading }] : []
  },
  device: plugOf,
}

function stateMessage(time: string, index: number): string {
  const uptime = `"Uptime":"0T0${index % 10}:12:09","UptimeSec":${index * 60},"Heap":25,"POWER":"ON"`
  return `{"Time":"${time}",${uptime},"Wifi":{"AP":1,"SSId":"Shop","RSSI":${60 + (index % 30)}}}`
}
