/** What everybody needs to know of one reason to refuse a reading. */
export interface RefusalEntry {
  /** What is wrong with the reading, as a sentence. */
  readonly meaning: string
  /** What a caller can do about it: it names a key of the definition, an operation or a page. */
  readonly remedy: string
}

/**
 * Every reason for which a reading goes into the quarantine, by its stable name: the only list there is. Names are
 * stored, counted and filtered by. docs/errors.md (`npm run docs`) is made from it.
 */
export const refusalCatalogue = {
  malformed: {
    meaning: 'The bytes do not have the format of the stream, or the reading is not an object.',
    remedy:
      'Send what source.format says, or set format to what the device sends with PUT /streams/{streamId}; docs/payload-formats.md has every format.',
  },
  schema_mismatch: {
    meaning:
      'A field has another type than the definition says, or is missing, out of range or unknown where the stream is strict.',
    remedy:
      'Send the fields that details names as the schema has them, or change the schema with PUT /streams/{streamId}; then judge the reading again with POST /streams/{streamId}/quarantine/redrive.',
  },
  timestamp_invalid: {
    meaning: 'The reading has a time that is not written as the source says.',
    remedy:
      'Set timestampFormat of the source to how the device writes its times, such as epoch_s or epoch_ms for a number and a pattern such as yyyy-MM-dd HH:mm:ss for another text, with PUT /streams/{streamId}; docs/payload-formats.md has every format.',
  },
  timestamp_missing: {
    meaning: 'The stream names the field of the time, and the reading has no such field.',
    remedy:
      'Send the field, set timestampField to where the time stands, or set timestampOptional to true: then the time of receipt counts.',
  },
  timestamp_implausible: {
    meaning: 'The time is so far from now that it has another unit, or comes from an unset clock.',
    remedy:
      'Set timestampFormat of the source to the unit that the device counts in, such as epoch_ms, or set the clock of the device.',
  },
  timestamp_in_future: {
    meaning: 'The time is more than five minutes ahead of the clock of the service.',
    remedy:
      'Set the clock of the device, for example by NTP; once the time has come, judge the reading again with POST /streams/{streamId}/quarantine/redrive.',
  },
  mapping_failed: {
    meaning: 'The definition says where readings or fields are in a message, and nothing is there.',
    remedy:
      'Compare the path in details with the message, and correct items or from in the definition; POST /streams/{streamId}/quarantine/trial tries a definition out.',
  },
  stream_paused: {
    meaning: 'The reading came while the stream was paused.',
    remedy:
      'Resume the stream with POST /streams/{streamId}/resume, then judge the reading again with POST /streams/{streamId}/quarantine/redrive.',
  },
  transform_failed: {
    meaning: 'The reading fits the fields, but a step of the transform fails.',
    remedy:
      'Correct the step that details names, or make it depend on the field being there; POST /streams/{streamId}/transform/preview tries steps out.',
  },
} as const satisfies Readonly<Record<string, RefusalEntry>>

/** Why a reading was not accepted. */
export type RefusalReason = keyof typeof refusalCatalogue

const remedies: ReadonlyMap<string, RefusalEntry> = new Map(Object.entries(refusalCatalogue))

/** What to do about a reading that was refused, as a sentence; what is stored may have an older reason. */
export function refusalRemedy(reason: string): string {
  return remedies.get(reason)?.remedy ?? 'Read what message and details say, then send it again.'
}
