/** What is asked of `POST /streams/infer` for a pasted text. */
export type SampleQuestion =
  | { readonly body: { readonly samples: readonly unknown[] } }
  | {
      readonly body: {
        readonly messages: readonly {
          readonly topic?: string
          readonly payload: string
          readonly encoding: 'utf8'
        }[]
      }
    }
  | { readonly raw: { readonly type: 'text/csv'; readonly content: string } }

export interface Sample {
  readonly question: SampleQuestion
  /** The first message of it, as it was pasted: commands send it again. */
  readonly first: string
  readonly contentType: 'application/json' | 'text/csv' | 'text/plain'
}

/** Messages that are looked at: more tell nothing new. */
const messagesMax = 100

/**
 * What somebody pasted: one JSON message, or one in each line, or a table in CSV with its head; else each line is a
 * message of a form that the service knows by itself. With a topic all are messages that came on it.
 */
export function sampleOf(text: string, topic: string): Sample | undefined {
  const pasted = text.trim()
  if (pasted === '') return undefined
  const whole = parsed(pasted)
  if (whole !== undefined) return ofMessages([pasted], whole.value, topic)
  const lines = linesOf(pasted)
  const values = lines.map(parsed)
  if (values.every((value) => value !== undefined)) {
    const samples = values.map(({ value }) => value)
    return ofMessages(lines, samples.length === 1 ? samples[0] : samples, topic)
  }
  if (topic === '' && isTable(lines)) {
    const first = lines.slice(0, 2).join('\n')
    return {
      question: { raw: { type: 'text/csv', content: pasted } },
      first,
      contentType: 'text/csv',
    }
  }
  return {
    question: { body: { messages: messagesOf(lines, topic) } },
    first: lines[0] ?? '',
    contentType: 'text/plain',
  }
}

function ofMessages(texts: readonly string[], value: unknown, topic: string): Sample {
  const contentType = 'application/json'
  const isList = Array.isArray(value) && texts.length === 1 && value.length > 0
  const first = isList ? JSON.stringify(value[0]) : (texts[0] ?? '')
  if (topic !== '')
    return { question: { body: { messages: messagesOf(texts, topic) } }, first, contentType }
  const samples: readonly unknown[] = Array.isArray(value) ? value : [value]
  return { question: { body: { samples: samples.slice(0, messagesMax) } }, first, contentType }
}

function messagesOf(texts: readonly string[], topic: string) {
  return texts.slice(0, messagesMax).map((payload) => ({
    ...(topic !== '' && { topic }),
    payload,
    encoding: 'utf8' as const,
  }))
}

function linesOf(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Lines with as many commas each, of which the first has names. */
function isTable(lines: readonly string[]): boolean {
  const [head = '', second] = lines
  const columns = head.split(',').length
  return (
    second !== undefined &&
    columns > 1 &&
    second.split(',').length === columns &&
    /[a-z]/i.test(head)
  )
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { value } : undefined
  } catch {
    return undefined
  }
}
