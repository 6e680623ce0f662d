import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

/** What a tracker sends depends on the tracker: ignition comes only where it is wired, the battery now and then. */
function stateOf(index: number) {
  const isMoving = index % 20 < 14
  return {
    atMs: marchMs + index * 30_000,
    latitude: wave(index, { mean: -23.55052, swing: 0.2, period: 150, digits: 6 }),
    longitude: wave(index, { mean: -46.633308, swing: 0.2, period: 130, digits: 6 }),
    altitude: index % 9 === 0 ? 0 : 760 + (index % 7),
    speed: isMoving ? wave(index, { mean: 22, swing: 12, period: 25, digits: 4 }) : 0,
    course: (index * 17) % 360,
    motion: isMoving,
    ignition: index < 25 ? undefined : isMoving,
    battery: index % 3 === 0 ? 85 : undefined,
  }
}

/** Java writes a double with a decimal, and a time with milliseconds and an offset. */
function double(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value)
}

function time(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+00:00')
}

export const traccar: Recipe = {
  name: 'traccar',
  front: 'http',
  credentials: 'headers',
  messages: series((index) => {
    const { atMs, latitude, longitude, altitude, speed, course, ...more } = stateOf(index)
    const attributes = JSON.stringify({
      ...(more.battery !== undefined && { batteryLevel: more.battery }),
      ...(more.ignition !== undefined && { ignition: more.ignition }),
      distance: 15.4,
      totalDistance: 12_500.5 + index,
      motion: more.motion,
    })
    const position =
      `"id":${12_345 + index},"attributes":${attributes},"deviceId":10,"protocol":"teltonika",` +
      `"serverTime":"${time(atMs + 1_204)}","deviceTime":"${time(atMs)}",` +
      `"fixTime":"${time(atMs)}","outdated":false,"valid":true,"latitude":${double(latitude)},` +
      `"longitude":${double(longitude)},"altitude":${double(altitude)},"speed":${double(speed)},` +
      '"course":' +
      `${double(course)},"address":null,"accuracy":0.0,"network":null,"geofenceIds":null`
    const device =
      '"id":10,"attributes":{},"groupId":0,"calendarId":0,"name":"Van 1","uniqueId":"123456789012345",' +
      `"status":"online","lastUpdate":"${time(atMs + 1_204)}","positionId":${12_344 + index},` +
      '"phone":null,"model":"FMB920","contact":null,"category":"van","disabled":false,"expirationTime":null'
    return {
      headers: { 'content-type': 'application/json' },
      payload: `{"position":{${position}},"device":{${device}}}`,
    }
  }),
  expected: (index) => {
    const { atMs, ...fields } = stateOf(index)
    const reading = { timestamp: stored(atMs), device: '123456789012345', ...fields }
    return [JSON.parse(JSON.stringify(reading)) as typeof reading]
  },
}
