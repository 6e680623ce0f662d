import { createReadStream, type ReadStream } from 'node:fs'
import { Readable, type ReadableOptions } from 'node:stream'

type ReadStreamOptions = NonNullable<Exclude<Parameters<typeof createReadStream>[1], string>>

/*
 * An error of a stream that nobody listens to ends the process. Whoever reads one listens from when it begins to until it
 * has what it wants: before that, a file may be gone or a signal be given, and after that, a generator may fail while
 * it is left. These streams have a listener all along. Whoever reads them hears of failures as of any other stream.
 */

/** What comes out of an iterable, as a stream. */
export function streamOf(
  source: Iterable<unknown> | AsyncIterable<unknown>,
  options?: ReadableOptions,
): Readable {
  return heard(Readable.from(source, options))
}

/** The bytes of a file, or a part of it. */
export function fileStream(path: string, options?: ReadStreamOptions): ReadStream {
  return heard(createReadStream(path, options))
}

function heard<Stream extends Readable>(stream: Stream): Stream {
  stream.on('error', () => undefined)
  return stream
}
