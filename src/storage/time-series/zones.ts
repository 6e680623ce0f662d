import { LruMap } from '../../core/lru-map.ts'

/** A stretch of time in which the clocks of a zone differ from UTC by one offset. */
export interface ZoneSegment {
  readonly fromUs: number
  /** Excluded. */
  readonly toUs: number
  /** The difference that is added to UTC to get what the clocks show. */
  readonly offsetUs: number
}

/** Years of zones are found out once: about nine at a time, and a zone has ten such blocks in use. */
const blockUs = 2 ** 48
const blocksMax = 512

/** No zone has ever changed its clocks twice within so short a time. */
const probeUs = 4 * 86_400_000_000

const secondUs = 1_000_000

const blocks = new LruMap<string, readonly ZoneSegment[]>(blocksMax)

/** The name of a zone as the IANA database spells it; nothing for what is no such name. */
export function parseZone(text: string): string | undefined {
  // Offsets such as +01:00 are zones for `Intl`, and names have no sign in front.
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(text)) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/**
 * The segments of a zone that touch [fromUs, toUs), in order and without a gap. The first and last
 * may begin before and end after it.
 */
export function zoneSegments(zone: string, fromUs: number, toUs: number): readonly ZoneSegment[] {
  const segments: ZoneSegment[] = []
  for (let block = Math.floor(fromUs / blockUs); block * blockUs < toUs; block++) {
    for (const segment of segmentsOfBlock(zone, block)) {
      const last = segments.at(-1)
      if (last?.offsetUs === segment.offsetUs) {
        segments[segments.length - 1] = { ...last, toUs: segment.toUs }
      } else segments.push(segment)
    }
  }
  return segments.filter((segment) => segment.toUs > fromUs && segment.fromUs < toUs)
}

function segmentsOfBlock(zone: string, block: number): readonly ZoneSegment[] {
  const key = `${zone} ${block}`
  const known = blocks.get(key)
  if (known) return known
  const fromUs = block * blockUs
  const found = findSegments(offsetsOf(zone), fromUs, fromUs + blockUs)
  blocks.set(key, found)
  return found
}

type OffsetAt = (instantUs: number) => number

function findSegments(offsetAt: OffsetAt, fromUs: number, toUs: number): readonly ZoneSegment[] {
  const segments: ZoneSegment[] = []
  let startUs = fromUs
  let offsetUs = offsetAt(fromUs)
  for (let atUs = fromUs; atUs < toUs; ) {
    const nextUs = Math.min(atUs + probeUs, toUs)
    const nextOffsetUs = offsetAt(nextUs)
    if (nextOffsetUs !== offsetUs) {
      const changeUs = findChange(offsetAt, atUs, nextUs)
      // One that falls on the very end belongs to the next block.
      if (changeUs < toUs) {
        segments.push({ fromUs: startUs, toUs: changeUs, offsetUs })
        startUs = changeUs
        offsetUs = nextOffsetUs
      }
    }
    atUs = nextUs
  }
  return [...segments, { fromUs: startUs, toUs, offsetUs }]
}

/** The first second with another offset than that at `beforeUs`; clocks change at whole seconds. */
function findChange(offsetAt: OffsetAt, beforeUs: number, afterUs: number): number {
  const offsetUs = offsetAt(beforeUs)
  let before = Math.floor(beforeUs / secondUs)
  let after = Math.ceil(afterUs / secondUs)
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetAt(middle * secondUs) === offsetUs) before = middle
    else after = middle
  }
  return after * secondUs
}

function offsetsOf(zone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  return (instantUs) => {
    // Ends with GMT, GMT+05:45, or, long ago, GMT-00:44:30.
    const [, sign, hours = '0', minutes = '0', seconds = '0'] =
      /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(instantUs / 1_000)) ?? []
    const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
    return (sign === '-' ? -1 : 1) * offset * secondUs
  }
}
