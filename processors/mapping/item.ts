import type { MessageContext } from '../../src/contracts/mapping.ts'
import { follow, type Path } from '../../src/contracts/path.ts'
import type { RefusedReading } from '../../src/contracts/reading.ts'
import { formatUs, type TimeProblem } from '../../src/core/time.ts'

/** Which part of what stands at the path of a level an item is. */
export type Selection = number | string | readonly number[] | readonly string[]

/** What a level of a mapping has found: a reading, or what encloses some. */
export interface Item {
  /** What paths begin at: an object, unless it encloses others. */
  readonly value: unknown
  /** What stands in the message, which `value` may be made of. */
  readonly raw: unknown
  /** What encloses it; undefined for the message. */
  readonly parent: Item | undefined
  readonly selection: Selection | undefined
  /** How many levels it is below the message. */
  readonly depth: number
  /** The time that the level gives it, where it does. */
  readonly claimedUs?: number | TimeProblem | undefined
  /** Its place among samples, whose times count from the first one. */
  readonly place?: number
  /** Why it is no reading. */
  readonly failure?: RefusedReading
}

/** A whole message. */
export function messageItem(message: unknown): Item {
  return { value: message, raw: message, parent: undefined, selection: undefined, depth: 0 }
}

/** What stands at a path that begins at an item, or around it. */
export function valueAt(item: Item, path: Path, context: MessageContext): unknown {
  switch (path.root) {
    case 'item':
      return follow(item.value, path.steps)
    case 'parent':
      return follow(ancestorOf(item, path.up)?.value, path.steps)
    case 'message':
      return follow(ancestorOf(item, item.depth)?.value, path.steps)
    case 'topic':
      return topicAt(context, path.steps[0] as number | undefined)
    case 'header':
      return follow(context.headers, [String(path.steps[0]).toLowerCase()])
    case 'query':
      return follow(context.query, path.steps)
    case 'key':
      return context.key
    case 'time':
      return context.sentAtUs === undefined ? undefined : formatUs(context.sentAtUs)
    case 'event':
      return context.eventType
    default:
      return path.root satisfies never
  }
}

function ancestorOf(item: Item, up: number): Item | undefined {
  let found: Item | undefined = item
  for (let level = 0; level < up; level++) found = found?.parent
  return found
}

function topicAt({ topic, separator = '/' }: MessageContext, index: number | undefined): unknown {
  if (index === undefined || topic === undefined) return topic
  if (topic !== divided.topic || separator !== divided.separator) {
    divided = { topic, separator, levels: topic.split(separator) }
  }
  return divided.levels.at(index)
}

/** The levels of the newest topic: each reading of a message asks for some of them. */
let divided: {
  readonly topic: string
  readonly separator: string
  readonly levels: readonly string[]
} = { topic: '', separator: '/', levels: [''] }

/** Gives an object a member, whatever its name: a plain assignment of `__proto__` would change the prototype. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else
    Object.defineProperty(object, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    })
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A refusal that names the part of the definition that leads nowhere, and where in the message that is. */
export function mappingFailed(path: string, message: string): RefusedReading {
  return {
    accepted: false,
    reason: 'mapping_failed',
    message: `${path} ${message}`,
    details: [{ path, message }],
    timestampUs: undefined,
  }
}
