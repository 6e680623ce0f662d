import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

/** A phone that is carried about; each tenth message is none of a place. What is zero is left out. */
function stateOf(index: number) {
  const atS = marchMs / 1000 + index * 611
  const speed = index % 6 === 0 ? 0 : 4 + (index % 50)
  return {
    atS,
    isPlace: index % 10 !== 0,
    latitude: wave(index, { mean: 48.85833, swing: 0.05, period: 120, digits: 7 }),
    longitude: wave(index, { mean: 2.29513, swing: 0.05, period: 100, digits: 7 }),
    altitude: index % 8 === 3 ? undefined : 30 + (index % 9),
    accuracy: 4 + (index % 15),
    speed: speed === 0 ? undefined : speed,
    course: speed === 0 ? undefined : (index * 11) % 360 || undefined,
    battery: 100 - (index % 80),
    connection: ['w', 'm', 'o'][index % 3],
  }
}

export const owntracks: Recipe = {
  name: 'owntracks',
  front: 'mqtt',
  messages: series((index) => {
    const state = stateOf(index)
    const topic = 'owntracks/jane/phone'
    if (!state.isPlace) return { topic, payload: `{"_type":"lwt","tst":${state.atS}}` }
    const payload = {
      _type: 'location',
      BSSID: '0:0:5e:0:53:1',
      SSID: 'home',
      acc: state.accuracy,
      alt: state.altitude,
      batt: state.battery,
      bs: 1,
      cog: state.course,
      conn: state.connection,
      created_at: state.atS + 3,
      inregions: index % 4 === 0 ? ['Home'] : undefined,
      lat: state.latitude,
      lon: state.longitude,
      m: 1,
      t: index % 5 === 0 ? 'u' : undefined,
      tid: 'JP',
      tst: state.atS,
      vac: 3,
      vel: state.speed,
    }
    return { topic, payload: JSON.stringify(payload), isRetained: true }
  }),
  expected: (index) => {
    const { atS, isPlace, ...fields } = stateOf(index)
    if (!isPlace) return []
    const reading = { timestamp: stored(atS * 1000), device: 'phone', ...fields }
    return [JSON.parse(JSON.stringify(reading)) as typeof reading]
  },
}
