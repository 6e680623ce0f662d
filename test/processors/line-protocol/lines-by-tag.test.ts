import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineDecoder } from '../../../processors/decode-lines.ts'
import { LineParser } from '../../../processors/line-protocol/line-parser.ts'
import { linesByTag } from '../../../processors/line-protocol/lines-by-tag.ts'
import { decodedStream } from '../../support/decoded-stream.ts'
import { anyLine, writtenLine } from '../../support/written-lines.ts'

function sorted(content: string | Uint8Array, tag = 'host') {
  const { devices, refused } = linesByTag(Buffer.from(content), tag)
  return {
    devices: devices.map(({ device, payload, places }) => [device, textOf(payload), places]),
    refused: refused.map(({ problem, payload, place }) => [place, textOf(payload), problem]),
  }
}

function textOf(payload: Uint8Array): string {
  return Buffer.from(payload).toString()
}

describe('lines by a tag', () => {
  test('are those of each device, in the order of their first ones', () => {
    const content =
      'm,host=b v=1\n\n# c\nm,a=x,host=a v=2\nn,host=b v=3\r\nm,host=b,z=1 v=4 17\nm v=5'

    expect(sorted(content)).toEqual({
      devices: [
        ['b', 'm,host=b v=1\nn,host=b v=3\r\nm,host=b,z=1 v=4 17', [1, 5, 6]],
        ['a', 'm,a=x,host=a v=2', [4]],
      ],
      refused: [[7, 'm v=5', 'the line has no tag host']],
    })
  })

  test('are a part of the body where they stand side by side', () => {
    const body = Buffer.from('m,host=a v=1\nm,host=a v=2\nm,host=b v=3\n')
    const [first, second] = linesByTag(body, 'host').devices
    expect(first?.payload.buffer).toBe(body.buffer)
    expect(second?.payload.buffer).toBe(body.buffer)
  })

  test('may be named by their measurement', () => {
    expect(sorted('m,a=b v=1\nn v=2\nm v=3\n,a=b v=1', 'measurement')).toEqual({
      devices: [
        ['m', 'm,a=b v=1\nm v=3', [1, 3]],
        ['n', 'n v=2', [2]],
      ],
      refused: [[4, ',a=b v=1', 'the line has no measurement']],
    })
  })

  test('have texts with line feeds in them', () => {
    const content = 'm,host=a v="\nm,host=b v=1\n" 17\nm,host=c v=2'
    expect(sorted(content).devices).toEqual([
      ['a', 'm,host=a v="\nm,host=b v=1\n" 17', [1]],
      ['c', 'm,host=c v=2', [4]],
    ])
  })

  test.each([
    ['m,host= v=1', 'the tag host has no value'],
    ['m,xhost=a v=1', 'the line has no tag host'],
    ['m,hosts=a v=1', 'the line has no tag host'],
    ['m host=1', 'the line has no tag host'],
    ['m v=",host=a"', 'the line has no tag host'],
    [String.raw`m,a=\,host=a v=1`, 'the line has no tag host'],
    ['m,host=a\0 v=1', 'U+0000 is not allowed in text'],
    ['m,host=a v="x', 'a text in the line has no closing quote'],
    ['m', 'the line has no tag host'],
  ])('%j is of no device', (line, problem) => {
    expect(sorted(`m,host=b v=1\n${line}\nm,host=b v=2`)).toEqual({
      devices: [['b', 'm,host=b v=1\nm,host=b v=2', [1, 3]]],
      refused: [[2, line, problem]],
    })
  })

  test('are of no device where it is no text', () => {
    expect(sorted(Buffer.from('m,host=\xff v=1\nm,host=\xc3\xa9 v=1', 'latin1'))).toMatchObject({
      devices: [['é', 'm,host=é v=1', [2]]],
      refused: [[1, expect.anything(), 'not valid UTF-8']],
    })
  })
})

const pieces = fc.constantFrom(
  'm,host=a v="',
  'm,host=a v=1',
  'm v=x",b="',
  ',b="',
  '"',
  '\\',
  '\\"',
  ' ',
  '=',
  ',',
  'x',
  '1',
  '\n',
  '\n',
  '\r\n',
  '\nm,host=b ',
  '\nm,host=c v=1,w="',
  '#',
  'v="x\ny"',
  ',a=1',
)
const hostile = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(''))
const sound = fc
  .array(
    fc.tuple(
      anyLine,
      fc.option(fc.constantFrom('a', 'b', 'c d', 'é=')),
      fc.constantFrom('\n', '\r\n', '\n \n'),
    ),
    { minLength: 1, maxLength: 10 },
  )
  .map((lines) =>
    lines
      .map(([line, host, end]) => {
        const { host: _tag, ...tags } = line.tags
        return writtenLine({ ...line, tags: host === null ? tags : { ...tags, host } }) + end
      })
      .join(''),
  )

/** Lines as who reads all of them finds them. */
function linesOf(content: string): readonly string[] {
  const parser = new LineParser(content)
  const lines: string[] = []
  for (let line = parser.next(); line !== undefined; line = parser.next()) {
    lines.push(content.slice(line.start, line.end))
  }
  return lines
}

describe('any text', () => {
  test.each([
    ['hostile', hostile],
    ['sound', sound],
  ])('that is %s has the same lines for all who read it', (_, any) => {
    fc.assert(
      fc.property(any, fc.constantFrom('host', 'measurement', 'a', 'b'), (content, tag) => {
        const { devices, refused } = linesByTag(Buffer.from(content), tag)
        const ofDevices = devices.flatMap(({ payload, places }) => {
          const lines = linesOf(textOf(payload))
          expect(lines).toHaveLength(places.length)
          return lines.map((line, index) => ({ line, place: places[index] ?? 0 }))
        })
        const others = refused.map(({ payload, place }) => ({ line: textOf(payload), place }))
        const all = [...ofDevices, ...others].toSorted((left, right) => left.place - right.place)
        expect(all.map(({ line }) => line)).toEqual(linesOf(content))
      }),
      { numRuns: 3_000 },
    )
  })

  test('has the lines of a device with its name in their tag', () => {
    fc.assert(
      fc.property(sound, fc.constantFrom('host', 'measurement'), (content, tag) => {
        for (const { device, payload } of linesByTag(Buffer.from(content), tag).devices) {
          const message = lineDecoder(decodedStream({}))(payload)
          if (!message.ok) throw new Error(message.problem)
          expect(message.unreadable?.size).toBe(0)
          for (const reading of message.readings) expect(reading).toMatchObject({ [tag]: device })
        }
      }),
    )
  })

  test('is read alike wherever it is cut into lines', () => {
    fc.assert(
      fc.property(hostile, (content) => {
        for (const line of linesOf(content)) expect(linesOf(line)).toEqual([line])
      }),
      { numRuns: 3_000 },
    )
  })
})

/** Bytes of the largest body that readings come in. */
const bodyBytes = 4 * 1024 * 1024

describe('hostile bodies are read in a time that grows with their size', () => {
  test.each([
    ['texts that open in each line', 'm a=x",b="\n'],
    ['texts that close in the next line', 'm a="\n'],
    ['quotes', '"'],
    ['quotes behind backslashes', 'm a="\\"\\"\n'],
    ['backslashes', '\\'],
    ['backslashes and spaces', '\\ '],
    ['line feeds', '\n'],
    ['names without a space', 'm,a=b\n'],
    ['commas', ','],
    ['equals signs', '='],
    ['tags that are escaped', 'm\\,,a=b v=1\n'],
    ['comments', '#"\n'],
    ['spaces', ' '],
  ])('%s', (_, piece) => {
    const body = Buffer.from(piece.repeat(bodyBytes / piece.length))
    const start = performance.now()
    linesByTag(body, 'host')
    lineDecoder(decodedStream({}))(body, () => undefined)
    // What looked at the rest of the body for each line would take minutes.
    expect(performance.now() - start).toBeLessThan(15_000)
  })

  test('a line with 100,000 tags is refused, and its neighbours are kept', () => {
    const tags = Array.from({ length: 100_000 }, (_, index) => `,t${index}=x`).join('')
    const message = lineDecoder(decodedStream({}))(Buffer.from(`m v=1\nm${tags} v=1\nm v=2`))
    expect(message).toMatchObject({
      readings: [{ v: 1 }, undefined, { v: 2 }],
      unreadable: new Map([[1, 'the line has more than 4096 tags and fields']]),
    })
    const { devices } = linesByTag(Buffer.from(`m${tags},host=a v=1\nm,host=b v=1`), 'host')
    expect(devices.map(({ device }) => device)).toEqual(['a', 'b'])
  })
})
