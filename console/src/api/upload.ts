import { ApiFailure, type FailureCode } from '../../../clients/typescript/call.ts'

/** Where a file is sent to. */
export interface UploadPlace {
  readonly path: string
  /** The largest file that is taken; undefined: nobody says. */
  readonly bytesMax: number | undefined
}

export interface Upload {
  readonly path: string
  readonly file: Blob
  readonly signal: AbortSignal
  readonly onProgress: (sentBytes: number) => void
}

/**
 * The place that an address of the API stands for. Undefined for one at another host: files may go to an object store
 * instead of the service, which the policy of the page does not let it ask.
 */
export function uploadPlace(address: string): UploadPlace | undefined {
  if (address === '') return undefined
  const { pathname, search, searchParams } = new URL(address, location.origin)
  // The host of the address is the public one, and the page may have come by another: its signature is not about it.
  if (!pathname.startsWith('/uploads/') || !searchParams.has('signature')) return undefined
  const limit = Number(searchParams.get('limit') ?? Number.NaN)
  return { path: pathname + search, bytesMax: Number.isFinite(limit) ? limit : undefined }
}

/** Sends a file, and tells how much of it has gone: `fetch` does not. @throws ApiFailure */
export async function upload({ path, file, signal, onProgress }: Upload): Promise<void> {
  signal.throwIfAborted()
  const request = new XMLHttpRequest()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = () => request.abort()
  signal.addEventListener('abort', abort)
  request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
  request.addEventListener('load', () => {
    if (request.status < 300) resolve()
    else reject(refusalIn(request))
  })
  request.addEventListener('error', () =>
    reject(failure('the file did not reach the service', 0, 'unreachable')),
  )
  request.addEventListener('abort', () =>
    reject(new DOMException('the upload was given up', 'AbortError')),
  )
  request.open('PUT', path)
  request.send(file)
  await promise.finally(() => signal.removeEventListener('abort', abort))
}

function refusalIn({ status, responseText }: XMLHttpRequest): ApiFailure {
  try {
    const { error, message } = JSON.parse(responseText) as {
      readonly error: FailureCode
      readonly message: string
    }
    return failure(message, status, error)
  } catch {
    return failure(
      `an answer with status ${status} that is not of the service`,
      status,
      'unreadable',
    )
  }
}

function failure(message: string, status: number, code: FailureCode): ApiFailure {
  return new ApiFailure(message, { operationId: 'uploadFile', status, code })
}
