import type { Offset } from '../../storage/journal/journal.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { EntryReader } from './entry-reader.ts'

/** What the counters of a stream have of its alerts. */
export interface AlertCounts {
  /** The time of the newest reading that rules have seen. */
  readonly timeUs: number
  /** In steady time. */
  readonly receivedAtUs: number
  /** Readings that came too late for rules since this was asked for last. */
  readonly late: number
}

/** The rules of one stream, along the journal. */
export interface StreamWatch {
  /** The version of the stream whose rules hold. */
  readonly version: number
  /** Whether there are rules: without any, only entries about alerts have to be shown. */
  readonly wantsReadings: boolean
  /** How long the stretches are whose readings are sealed, in microseconds; nothing where none are. */
  readonly sealUs: number | undefined
  see(entry: EntryReader, offset: Offset): void
  counted(): AlertCounts
}

/** The rules of all streams. They keep what they find until it is written. */
export interface AlertWatches {
  /** The watch of a stream that was asked for lately; undefined may also mean: ask `watchOf`. */
  watchAtHand(streamId: string): StreamWatch | undefined
  /**
   * @param coming more streams that will be asked for: they are looked up together
   * @returns undefined for a stream that is gone
   */
  watchOf(streamId: string, coming: () => Iterable<string>): Promise<StreamWatch | undefined>
  /** Lets a stream have the rules of the newer version that an entry names. */
  adopt(watch: StreamWatch, entry: EntryReader, offset: Offset): Promise<void>
  /** Takes an entry that says that nobody could be heard for a time. */
  passDowntime(entry: EntryReader, offset: Offset): Promise<void>
  /** Takes an entry that holds the wall clock against steady time. */
  passClock(entry: EntryReader): Promise<void>
  /** Writes what was found. Resolves with what is to follow once it is committed. */
  write(transaction: StateDatabase): Promise<() => void>
  /** Begins anew with what was written last: what was found since could not be. */
  forget(): void
}
