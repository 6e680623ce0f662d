import type { RegisterItem, RegisterKind } from './options.ts'

/** What one request may ask for (Modbus Application Protocol V1.1b3, sections 6.1 to 6.4). */
const countMax: Readonly<Record<RegisterKind, number>> = {
  coil: 2_000,
  discrete: 2_000,
  holding: 125,
  input: 125,
}

/** One request, and the fields that its answer holds. */
export interface PlannedRead {
  readonly unitId: number
  readonly kind: RegisterKind
  readonly address: number
  readonly count: number
  readonly items: readonly RegisterItem[]
}

/**
 * The requests for all fields, the same whichever order these are in. A value is never divided: its registers come from
 * one moment. Registers between two fields are read with them where there are no more than `gapMax`.
 */
export function planReads(items: readonly RegisterItem[], gapMax: number): readonly PlannedRead[] {
  const reads: PlannedRead[] = []
  for (const item of items.toSorted(inOrder)) {
    const last = reads.at(-1)
    const joined = last && join(last, item, gapMax)
    if (joined === undefined) {
      const { unitId, kind, address, count } = item
      reads.push({ unitId, kind, address, count, items: [item] })
    } else reads[reads.length - 1] = joined
  }
  return reads
}

function inOrder(left: RegisterItem, right: RegisterItem): number {
  return (
    left.unitId - right.unitId ||
    compare(left.kind, right.kind) ||
    left.address - right.address ||
    left.count - right.count ||
    compare(left.field, right.field)
  )
}

function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

function join(read: PlannedRead, item: RegisterItem, gapMax: number): PlannedRead | undefined {
  const { unitId, kind, address } = read
  if (unitId !== item.unitId || kind !== item.kind) return undefined
  const end = address + read.count
  const count = Math.max(end, item.address + item.count) - address
  if (item.address - end > gapMax || count > countMax[kind]) return undefined
  return { ...read, count, items: [...read.items, item] }
}
