import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EntryFormatError } from '../../src/ingest/pipeline/entry.ts'
import { readEntries } from '../../src/ingest/pipeline/entry-reader.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import {
  accepted,
  acceptedReading,
  anyStream,
  expected,
  plain,
  quarantined,
  readAll,
  sequences,
  write,
  written,
} from '../support/written-entries.ts'

describe('entries', () => {
  test('are read as they were written, in their order', () => {
    fc.assert(
      fc.property(sequences, fc.nat(12), (sequence, skipped) => {
        expect(readAll(written(sequence))).toEqual(sequence.map(expected))
        expect(readAll(written(sequence), skipped)).toEqual(sequence.slice(skipped).map(expected))
      }),
    )
  })

  test('are read from a part of other memory', () => {
    fc.assert(
      fc.property(sequences, fc.nat(20), (sequence, offset) => {
        const bytes = written(sequence)
        const within = new Uint8Array(offset + bytes.length + 3).fill(0xaa)
        within.set(bytes, offset)

        expect(readAll(within.subarray(offset, offset + bytes.length))).toEqual(readAll(bytes))
      }),
    )
  })
})

describe('EntryWriter', () => {
  test('counts entries and bytes, and starts anew once they were taken', () => {
    fc.assert(
      fc.property(sequences, (sequence) => {
        const writer = new EntryWriter()
        for (const one of sequence) write(writer, one)
        const { count, byteLength } = writer
        const taken = writer.take()

        expect({ count, byteLength }).toEqual({
          count: sequence.length,
          byteLength: taken.bytes.length,
        })
        expect(taken.count).toBe(sequence.length)
        expect([writer.count, writer.byteLength]).toEqual([0, 0])
      }),
    )
  })

  test('grows from any size', () => {
    fc.assert(
      fc.property(sequences, fc.nat(300), (sequence, bytesInitial) => {
        const writer = new EntryWriter(bytesInitial)
        for (const one of sequence) write(writer, one)

        expect(readAll(writer.take().bytes)).toEqual(sequence.map(expected))
      }),
    )
  })

  test('writes the same bytes for the same entry, whatever was written before', () => {
    fc.assert(
      fc.property(accepted, quarantined, (before, one) => {
        const writer = new EntryWriter()
        write(writer, before)
        writer.take()
        write(writer, one)

        expect(writer.take().bytes).toEqual(written([one]))
      }),
    )
  })

  test('hands out memory that it does not write to again', () => {
    const writer = new EntryWriter()
    write(writer, { stream: anyStream, receivedAtUs: 1, reading: acceptedReading() })
    const { bytes } = writer.take()
    const before = readAll(bytes)
    write(writer, { stream: anyStream, receivedAtUs: 2, reading: acceptedReading() })

    expect(readAll(bytes)).toEqual(before)
  })
})

/** Offsets of the known places of the layout. */
const formatAt = 4
const kindAt = 5
const notesLengthAt = 50

function withByte(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const changed = bytes.slice()
  changed[at] = value
  return changed
}

describe('bytes that are no entries of this format', () => {
  const one = written([{ stream: anyStream, receivedAtUs: 1, reading: acceptedReading() }])

  test('a newer format is refused and never guessed at', () => {
    fc.assert(
      fc.property(
        fc.oneof(accepted, quarantined),
        fc.integer({ min: 3, max: 255 }),
        (any, format) => {
          const bytes = withByte(written([any]), formatAt, format)

          expect(() => readAll(bytes)).toThrow(EntryFormatError)
          expect(() => readAll(bytes)).toThrow(`format ${format}`)
        },
      ),
    )
  })

  test('a newer entry behind older ones is refused, too', () => {
    const bytes = new Uint8Array([...one, ...withByte(one, formatAt, 3)])
    const entries = readEntries(bytes)

    expect(entries.next().done).toBe(false)
    expect(() => entries.next()).toThrow(EntryFormatError)
  })

  test('a cut leaves the entries before it and refuses the one that it is in', () => {
    const cutSequences = fc.array(fc.oneof(accepted, quarantined), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(cutSequences, fc.nat(), (sequence, place) => {
        const ends = sequence.map((_, index) => written(sequence.slice(0, index + 1)).length)
        const bytes = written(sequence)
        const cut = place % bytes.length
        const read: object[] = []
        const readCut = () => {
          for (const entry of readEntries(bytes.subarray(0, cut))) read.push(plain(entry))
        }

        if (cut === 0 || ends.includes(cut)) readCut()
        else expect(readCut).toThrow(EntryFormatError)
        expect(read).toEqual(
          sequence.slice(0, ends.filter((end) => end <= cut).length).map(expected),
        )
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    [1, [0, 3, 4, 5, 6, 8, 255]],
    [2, [0, 1, 2, 7, 255]],
  ])('an unknown verdict of format %i is refused', (format, kinds) => {
    for (const kind of kinds) {
      const bytes = withByte(withByte(one, formatAt, format), kindAt, kind)
      expect(() => readAll(bytes)).toThrow(`the entry at byte 0 has an unknown verdict`)
    }
  })

  test('a length that leaves no room for the header is refused', () => {
    fc.assert(
      fc.property(fc.nat(49), (length) => {
        const bytes = withByte(one, 0, length)

        expect(() => readAll(bytes)).toThrow(EntryFormatError)
        expect(() => readAll(bytes.subarray(0, 4 + length))).toThrow(EntryFormatError)
      }),
    )
  })

  test('notes that are longer than their entry are refused', () => {
    expect(() => readAll(withByte(one, notesLengthAt, 200))).toThrow(EntryFormatError)
  })
})
