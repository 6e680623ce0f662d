import type { AcceptedReading, RefusedReading } from '../../contracts/reading.ts'
import type { AcceptedNotes, Origin, QuarantineNotes } from './entry.ts'

/** JSON of what is to be said of an accepted reading beside its values. */
export function acceptedNotes(
  { extra, flagged, sender }: AcceptedReading,
  origin: Origin | undefined,
): string {
  const notes: AcceptedNotes = {
    ...(extra !== '' && { extra }),
    ...(flagged.length > 0 && { flagged }),
    ...(sender !== undefined && { sender }),
    ...(origin !== undefined && { origin }),
  }
  return JSON.stringify(notes)
}

/** What is to be said of a refused one. */
export function notesOf(
  { reason, message, details }: RefusedReading,
  source: string,
): QuarantineNotes {
  return { reason, message, details, source }
}
