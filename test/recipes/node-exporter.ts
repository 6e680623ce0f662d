import { type FleetRecipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

const hosts = ['web-1:9100', 'web-2:9100', 'db-1.example.com:9100']

/** All hosts are scraped in one interval, each at an offset of its own. */
function stateOf(index: number, place: number) {
  const isUp = index % 29 !== 13 || place !== 1
  return {
    atMs: marchMs + index * 15_000 + place * 4_217,
    up: isUp ? 1 : 0,
    ...(isUp && {
      load1: Math.max(0, wave(index + place, { mean: 0.8, swing: 0.6, period: 33, digits: 2 })),
      memory_available: 6_102_437_888 - ((index * 7919) % 4096) * 65_536,
      disk_available: 41_877_102_592 - index * 4096 * (place + 1),
    }),
  }
}

function samplesOf(index: number, place: number): string {
  const { atMs, up, load1, memory_available: memory, disk_available: disk } = stateOf(index, place)
  const own = `instance="${hosts[place]}",job="node"`
  // A series whose value does not exist in this moment is NaN.
  const shownLoad = index % 31 === 17 ? 'NaN' : load1
  const found =
    memory === undefined
      ? []
      : [
          `node_filesystem_avail_bytes{device="/dev/sda1",fstype="ext4",${own},mountpoint="/"} ${disk} ${atMs}`,
          `node_load1{${own}} ${shownLoad} ${atMs}`,
          `node_memory_MemAvailable_bytes{${own}} ${memory} ${atMs}`,
        ]
  return [...found, `up{${own}} ${up} ${atMs}`].join('\n')
}

const places = hosts.map((_, place) => place)

export const nodeExporter: FleetRecipe = {
  name: 'node-exporter',
  front: 'remote-write',
  messages: series((index) => ({
    payload: places.map((place) => samplesOf(index, place)).join('\n'),
  })),
  expected: (index) =>
    places.map((place) => {
      const { atMs, load1, ...reading } = stateOf(index, place)
      const hasLoad = load1 !== undefined && index % 31 !== 17
      return { timestamp: stored(atMs), ...reading, ...(hasLoad && { load1 }) }
    }),
  device: (_, place) => hosts[place] ?? '',
}
