import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

const id = 'shellyplus1pm-a8032abe54dc'

/** What a message is about: the device tells of what has changed, and of nothing else. */
const kinds = ['power', 'power', 'all', 'power', 'cloud', 'output'] as const

/** Times have two decimals, as in 1631186545.04. */
function stateOf(index: number) {
  const hundredths = marchMs / 10 + index * 1_537
  const power = wave(index, { mean: 60, swing: 58, period: 45, digits: 1 })
  return {
    kind: kinds[index % kinds.length] ?? 'all',
    atMs: hundredths * 10,
    ts: (hundredths / 100).toFixed(2),
    power,
    voltage: wave(index, { mean: 231, swing: 3, period: 50, digits: 1 }),
    current: Number((power / 231).toFixed(3)),
    energy: Number((913.252 + index * 0.217).toFixed(3)),
    temperature: wave(index, { mean: 51, swing: 6, period: 90, digits: 1 }),
    isOn: index % 12 < 6,
  }
}

type State = ReturnType<typeof stateOf>

function paramsOf(state: State): string {
  const { kind, power, voltage, current, energy, temperature, isOn } = state
  if (kind === 'cloud') return '"cloud":{"connected":true}'
  if (kind === 'power') return `"switch:0":{"id":0,"apower":${power.toFixed(1)}}`
  if (kind === 'output') return `"switch:0":{"id":0,"output":${isOn},"source":"WS_in"}`
  const minute = Math.floor(state.atMs / 60_000) * 60
  return (
    `"switch:0":{"id":0,"aenergy":{"by_minute":[404.631,398.2,0.000],"minute_ts":${minute},` +
    `"total":${energy.toFixed(3)}},"apower":${power.toFixed(1)},"current":${current.toFixed(3)},` +
    `"temperature":{"tC":${temperature.toFixed(1)},"tF":127.9},"voltage":${voltage.toFixed(1)}}`
  )
}

export const shellyGen2: Recipe = {
  name: 'shelly-gen2',
  front: 'mqtt',
  messages: series((index) => {
    const state = stateOf(index)
    const params = `{"ts":${state.ts},${paramsOf(state)}}`
    const head = `"src":"${id}","dst":"${id}/events","method":"NotifyStatus"`
    return { topic: `${id}/events/rpc`, payload: `{${head},"params":${params}}` }
  }),
  expected: (index) => {
    const { kind, atMs, power, voltage, current, energy, temperature, isOn } = stateOf(index)
    const timestamp = stored(atMs)
    if (kind === 'cloud') return []
    if (kind === 'power') return [{ timestamp, power }]
    if (kind === 'output') return [{ timestamp, output: isOn }]
    return [{ timestamp, power, voltage, current, energy, temperature }]
  },
}
