/** Why a reading was refused, in words for whoever looks at it. */
export interface ReasonWords {
  readonly name: string
  readonly meaning: string
  /** What to do about it. */
  readonly remedy: string
}

/** Every reason that the service gives. */
export const reasons: Readonly<Record<string, ReasonWords>> = {
  malformed: {
    name: 'Not readable',
    meaning:
      'The bytes are not what the format of the stream says, or the reading is not an object.',
    remedy:
      'Compare the bytes with the format of the source. If the device sends another format, change it in the definition; if the message was cut off, it can only be deleted.',
  },
  schema_mismatch: {
    name: 'Does not fit the fields',
    meaning:
      'A field has a value of another type than the definition says, is missing though it is required, or is out of range or unknown in a strict stream.',
    remedy:
      'Correct the field in the definition, or what the device sends; then judge the reading again.',
  },
  timestamp_invalid: {
    name: 'Time not readable',
    meaning: 'There is a time, and it is not written as the source says.',
    remedy:
      'Set timestampFormat of the source to how the device writes its times; then judge the reading again.',
  },
  timestamp_missing: {
    name: 'Without a time',
    meaning: 'The stream names the field of the time, and this reading does not have it.',
    remedy:
      'Set timestampField to where the time stands, or timestampOptional to true: then the time of receipt counts.',
  },
  timestamp_implausible: {
    name: 'Implausible time',
    meaning:
      'The time can be read, and is so far from now that it is likely to be in another unit or of a clock that was never set.',
    remedy:
      'Check whether the device counts in seconds, milliseconds or microseconds, and set timestampFormat. Readings of a clock that was not set can only be deleted.',
  },
  timestamp_in_future: {
    name: 'Time in the future',
    meaning: 'The reading claims a time of more than five minutes ahead of the service.',
    remedy: 'Set the clock of the device. Once its time has come, the reading can be judged again.',
  },
  mapping_failed: {
    name: 'Place not found',
    meaning:
      'The definition says where the readings or fields of a message are, and nothing usable stands there.',
    remedy:
      'Compare the path in the details with the message, and correct items or from in the definition.',
  },
  stream_paused: {
    name: 'Stream was paused',
    meaning:
      'The reading came while the stream was paused, from a sender that could not be informed.',
    remedy:
      'Resume the stream; then judge the readings again, and they are stored with the time they came.',
  },
  transform_failed: {
    name: 'A step failed',
    meaning: 'The reading fits the fields, and a step of the transform could not be done with it.',
    remedy:
      'The details name the step. Correct its expression, or ask first whether the field is there; then judge the reading again.',
  },
}

/** The words of a reason; one that is unknown here is shown as it is. */
export function reasonWords(reason: string): ReasonWords {
  const known = Object.hasOwn(reasons, reason) ? reasons[reason] : undefined
  return (
    known ?? {
      name: reason,
      meaning: 'The service gives a reason that this page does not know.',
      remedy: 'The message and the details say more.',
    }
  )
}
