import * as fc from 'fast-check'
import { Gauge, Histogram, Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { prometheusDecoder } from '../../../processors/decode-prometheus.ts'
import { prometheusTextRecords } from '../../../processors/prometheus-text.ts'
import type { RefusedRecord, SampleRecord } from '../../../processors/records.ts'
import { decodedStream } from '../../support/decoded-stream.ts'

function recordsOf(text: string | Uint8Array) {
  const records = prometheusTextRecords(Buffer.from(text as string))
  if (typeof records === 'string') throw new Error(records)
  return records
}

/** The only record of a text of one line. */
function sampleOf(line: string): SampleRecord {
  const [record, ...more] = recordsOf(line)
  if (record === undefined || 'problem' in record) throw new Error(record?.problem ?? 'nothing')
  expect(more).toEqual([])
  return record
}

function problemOf(line: string): string {
  const [record] = recordsOf(line)
  return record !== undefined && 'problem' in record ? record.problem : 'no problem'
}

describe('a sample', () => {
  test.each<[string, object, number | undefined]>([
    ['up 1', { metric: 'up', value: 1 }, undefined],
    ['up 1 1769853598123', { metric: 'up', value: 1 }, 1_769_853_598_123_000],
    ['up 1 -1', { metric: 'up', value: 1 }, -1_000],
    ['  up\t{ } \t1  ', { metric: 'up', value: 1 }, undefined],
    ['a:b_2{x="1",y="2",} 1e-3', { metric: 'a:b_2', x: '1', y: '2', value: 0.001 }, undefined],
    ['a{ x = "1" , y = "2" } +.5', { metric: 'a', x: '1', y: '2', value: 0.5 }, undefined],
    ['a{x="C:\\\\dir\\n\\"q\\""} 5.', { metric: 'a', x: 'C:\\dir\n"q"', value: 5 }, undefined],
    ['a{x="# not, a} comment"} 1', { metric: 'a', x: '# not, a} comment', value: 1 }, undefined],
    ['a{x="Grüße 🌡"} 1', { metric: 'a', x: 'Grüße 🌡', value: 1 }, undefined],
    ['a +Inf', { metric: 'a', value: Infinity }, undefined],
    ['a -infinity', { metric: 'a', value: -Infinity }, undefined],
    ['a NaN', { metric: 'a', value: NaN }, undefined],
    ['a{empty="",x="1"} 1', { metric: 'a', x: '1', value: 1 }, undefined],
    ['{"http.status","x.y"="1"} 1', { metric: 'http.status', 'x.y': '1', value: 1 }, undefined],
    ['{x="1","a b"} 1', { metric: 'a b', x: '1', value: 1 }, undefined],
    [
      'a{value="v",metric="m"} 1',
      { metric: 'a', exported_value: 'v', exported_metric: 'm', value: 1 },
      undefined,
    ],
  ])('%s', (line, members, timeUs) => {
    expect(sampleOf(line)).toEqual({ members, timeUs })
  })

  test.each([
    ['up', 'line 1: there is no value'],
    ['up one', 'line 1: the value one is not a number'],
    ['up 0x1', 'line 1: the value 0x1 is not a number'],
    ['up 1 2 3', 'line 1: something follows the value and the time'],
    ['up 1 1.5', 'line 1: the time 1.5 is not a number of milliseconds, without decimals'],
    ['up 1 1769853598000000', 'line 1: the time is not in the years 0001 to 9999'],
    ['up 1 # {trace="1"} 1', 'line 1: something follows the value and the time'],
    ['9up 1', 'line 1: the metric has no name'],
    ['{x="1"} 1', 'line 1: the metric has no name'],
    ['{"a","b"} 1', 'line 1: the metric has two names'],
    ['a{"b"} 1', 'line 1: the metric has two names'],
    ['a{__name__="b"} 1', 'line 1: the metric has its name as a label'],
    ['a{x="1" y="2"} 1', 'line 1: a label is not followed by , or }'],
    ['a{x} 1', 'line 1: the label x is not followed by ='],
    ['a{x=1} 1', 'line 1: the value of the label x has no quotes around it'],
    ['a{x="1} 1', 'line 1: a quote is not closed'],
    ['a{x="1"', 'line 1: a label is not followed by , or }'],
    ['a{,} 1', 'line 1: a label has no name'],
    ['a{""="1"} 1', 'line 1: a label has no name'],
    ['a{x="1",x="2"} 1', 'line 1: it has the label x twice'],
    ['a{value="1",exported_value="2"} 1', 'line 1: it has the label exported_value twice'],
    ['a{x="\\t"} 1', 'line 1: \\t is not an escape: they are \\\\, \\" and \\n'],
    ['a{"__proto__"="1"} 1', 'line 1: a field cannot have the name __proto__'],
    ['a{x="\0"} 1', 'line 1: U+0000 is not allowed in text'],
    ['\uFEFFup 1', 'line 1: the metric has no name'],
  ])('%s is refused', (line, problem) => {
    expect(problemOf(line)).toBe(problem)
  })

  test('of any name and labels is what was written', () => {
    const label = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/)
    const quotable = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'))
    const name = fc.oneof(label, quotable)
    const labels = fc.uniqueArray(fc.tuple(name, quotable), { selector: ([one]) => one })
    const metric = fc.oneof(fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,8}$/), quotable)
    fc.assert(
      fc.property(metric, labels, fc.double(), fc.nat(), (written, pairs, value, timeMs) => {
        const own = ['', 'metric', 'value', '__name__', '__proto__', 'exported_metric']
        const used = pairs.filter(([one]) => !own.includes(one) && one !== 'exported_value')
        fc.pre(written !== '')
        const inside = [
          quoted(written),
          ...used.map(([one, text]) => `${quoted(one)}=${quoted(text)}`),
        ]
        const line = `{${inside.join(',')}} ${Object.is(value, -0) ? '-0' : value} ${timeMs}`

        const kept = used.filter(([, text]) => text !== '')
        expect(sampleOf(line)).toEqual({
          members: { metric: written, ...Object.fromEntries(kept), value },
          timeUs: timeMs * 1_000,
        })
      }),
    )
  })
})

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

describe('a text', () => {
  test('has comments, blank lines and ends of Windows between its samples', () => {
    const text = '# HELP up "x\n# TYPE up gauge\r\n\r\n \t\nup 1\r\n#\n  # up 2\nup 3'
    expect(recordsOf(text)).toMatchObject([{ members: { value: 1 } }, { members: { value: 3 } }])
  })

  test('has its malformed lines refused alone, each with its number and its bytes', () => {
    const text = Buffer.concat([
      Buffer.from('# one\nup 1\nup two\nup{x="'),
      Buffer.of(0xff),
      Buffer.from('"} 3\nup 4'),
    ])
    expect(recordsOf(text)).toEqual([
      { members: { metric: 'up', value: 1 }, timeUs: undefined },
      { problem: 'line 3: the value two is not a number', kept: Buffer.from('up two') },
      {
        problem: 'line 4: it is not valid UTF-8',
        kept: Buffer.concat([Buffer.from('up{x="'), Buffer.of(0xff), Buffer.from('"} 3')]),
      },
      { members: { metric: 'up', value: 4 }, timeUs: undefined },
    ])
  })

  test('of more than 10,000 samples is refused', () => {
    expect(recordsOf('a 1\n'.repeat(10_000))).toHaveLength(10_000)
    expect(prometheusTextRecords(Buffer.from('a 1\n'.repeat(10_001)))).toBe(
      'more than 10000 readings in one message',
    )
  })

  test('has a line of 100,000 labels refused alone', () => {
    const labels = Array.from({ length: 100_000 }, (_, index) => `l${index}="v"`)
    const text = `a{${labels.join(',')}} 1\nb 2`
    expect(recordsOf(text)).toMatchObject([
      { problem: 'line 1: it has more than 1000 labels' },
      { members: { metric: 'b' } },
    ])
    expect(recordsOf(`a{${labels.slice(0, 1_000).join(',')}} 1`)[0]).toHaveProperty('members')
  })

  // If characters were read again for each that follows, each of these would take hours.
  test.each([
    ['digits', `a ${'1'.repeat(4_000_000)}x`, 1],
    ['backslashes', `a{x="${'\\'.repeat(4_000_000)}`, 1],
    ['quotes', `a{x="${'\\"'.repeat(2_000_000)}`, 1],
    ['blanks', `a${' '.repeat(4_000_000)}x`, 1],
    ['carriage returns', '\r'.repeat(4_000_000), 0],
    ['empty lines', '\n'.repeat(4_000_000), 0],
    ['commas', `a{${','.repeat(4_000_000)}} 1`, 1],
  ])('of four megabytes of %s is read once', (_, text, refused) => {
    expect(recordsOf(text).filter((record) => 'problem' in record)).toHaveLength(refused)
  })
})

/** A text in OpenMetrics with this line. */
function openMetricsOf(line: string): string {
  return `# TYPE a counter\n${line}\n# EOF\n`
}

describe('OpenMetrics', () => {
  test.each<[string, number | undefined]>([
    ['a_total 1', undefined],
    ['a_total 1 1769853598', 1_769_853_598_000_000],
    ['a_total 1 1769853598.123456789', 1_769_853_598_123_456],
    ['a_total 1 1.769853598123e9', 1_769_853_598_123_000],
    ['a_total 1 1769853598 # {trace_id="a#b"} 0.67 1769853597.5', 1_769_853_598_000_000],
    ['a_total 1 # {} 0.67', undefined],
  ])('%s has its time in seconds, and its exemplar is passed over', (line, timeUs) => {
    expect(recordsOf(openMetricsOf(line))).toEqual([
      { members: { metric: 'a_total', value: 1 }, timeUs },
    ])
  })

  test('is not a text with its mark in another place', () => {
    expect(recordsOf('# EOF\na 1 1769853598000')).toMatchObject([{ timeUs: 1_769_853_598_000_000 }])
    expect(recordsOf('a 1 1769853598000\nb 1 # EOF')).toHaveLength(2)
  })

  test('keeps of a refused line that its time is in seconds', () => {
    const [refused] = recordsOf(openMetricsOf('a_total 1 today'))
    expect(refused).toEqual({
      problem: 'line 2: the time today is not a number of seconds',
      kept: Buffer.from('a_total 1 today\n# EOF\n'),
    })
  })
})

test('a line that is refused is refused again as it is kept, for the same reason', () => {
  const word = fc.constantFrom(
    'a',
    '{',
    '}',
    '"',
    '\\',
    '=',
    ',',
    ' ',
    '1',
    '#',
    'x="1"',
    'é',
    '\r',
  )
  const line = fc.array(word, { maxLength: 12 }).map((words) => words.join(''))
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), fc.boolean(), (lines, isOpen) => {
      const text = `${lines.join('\n')}${isOpen ? '\n# EOF' : ''}`
      for (const record of recordsOf(text)) {
        if (!('problem' in record)) continue
        const [again, ...more] = recordsOf(record.kept) as readonly RefusedRecord[]
        expect(more).toEqual([])
        expect(reasonOf(again)).toBe(reasonOf(record))
      }
    }),
    { numRuns: 1_000 },
  )
})

function reasonOf(record: RefusedRecord | undefined): string | undefined {
  return record?.problem.replace(/^line \d+: /, '')
}

describe('what prom-client exposes', () => {
  test.each([
    ['the text format', Registry.PROMETHEUS_CONTENT_TYPE],
    ['OpenMetrics', Registry.OPENMETRICS_CONTENT_TYPE],
  ] as const)('as %s is what was measured', async (_, type) => {
    const registry = new Registry<typeof type>()
    registry.setContentType(type)
    const registers = [registry]
    const gauge = new Gauge({
      name: 'room_celsius',
      help: 'a "b"\nc',
      labelNames: ['room'],
      registers,
    })
    gauge.set({ room: 'the "big" one\\\n' }, 21.5)
    const histogram = new Histogram({ name: 'wait', help: 'w', buckets: [0.5], registers })
    histogram.observe(0.25)

    const records = recordsOf(await registry.metrics())

    expect(records.map((record) => ('members' in record ? record.members : record))).toEqual([
      { metric: 'room_celsius', room: 'the "big" one\\\n', value: 21.5 },
      { metric: 'wait_bucket', le: '0.5', value: 1 },
      { metric: 'wait_bucket', le: '+Inf', value: 1 },
      { metric: 'wait_sum', value: 0.25 },
      { metric: 'wait_count', value: 1 },
    ])
  })
})

describe('a stream of this format', () => {
  const stream = decodedStream(
    { value: { type: 'number' } },
    {},
    { timestampField: 'at', timestampFormat: 'epoch_ms' },
  )
  const decode = prometheusDecoder(stream)

  test('has the time of a sample where its times are', () => {
    const text = Buffer.from('up{job="a"} 1 1769853598123\nup NaN\nup one')
    const message = decode(text)
    if (!message.ok) throw new Error(message.problem)
    const { readings, unreadable, elements, elementFormats, format } = message

    expect(readings).toEqual([
      { metric: 'up', job: 'a', value: 1, at: 1_769_853_598_123 },
      { metric: 'up', value: NaN },
      undefined,
    ])
    expect([...(unreadable ?? [])]).toEqual([[2, 'line 3: the value one is not a number']])
    expect(elements?.(text).map(String)).toEqual([
      '{"metric":"up","job":"a","value":1,"at":1769853598123}',
      '{"metric":"up","value":NaN}',
      'up one',
    ])
    expect([0, 1, 2].map((index) => elementFormats?.get(index) ?? format)).toEqual([
      'json',
      'json',
      'prometheus',
    ])
  })

  test('refuses a text without samples, and one with too many', () => {
    expect(decode(Buffer.from('# nothing'))).toEqual({ ok: false, problem: 'the batch is empty' })
    expect(decode(Buffer.from('a 1\n'.repeat(10_001)))).toMatchObject({ ok: false })
  })
})
