import { messageBytesMax, shownBytes } from '../message-size.ts'
import type { Frame, LibraryConnection } from './library.ts'

/**
 * A body comes in frames of nearly the negotiated size, 4,096 bytes at least (section 4.2.3): one in crumbs would take
 * many times its size in memory.
 */
const meanFrameBytesMin = 1_024

/** The id of a header of class basic (section 4.2.6.1), and of `connection.close` (1.4.2.9): class, method. */
const basicHeader = 60
const connectionClose = 10 * 65_536 + 50

/** Why a server has closed the connection. */
export interface CloseReason {
  readonly code: number
  readonly text: string
}

/**
 * Stands between the frames that arrive and the library: it holds them up while too much waits for the disk, cuts
 * messages that are too large, and remembers why the server goes.
 */
export class FrameGate {
  readonly #connection: LibraryConnection
  readonly #receive: () => Frame | false
  #isReceiving = false
  #isPaused = false
  /**
   * Bytes to come of the body that is arriving; below are its frames to come, and its bytes that
   * are let through.
   */
  #rest = 0
  #framesLeft = 0
  #room = 0
  #cutFrom: number | undefined
  #closeReason: CloseReason | undefined

  constructor(connection: LibraryConnection) {
    this.#connection = connection
    this.#receive = connection.recvFrame.bind(connection)
    connection.recvFrame = () => this.#next()
    const check = connection.checkRecv.bind(connection)
    // While we do not read, silence says nothing about the server.
    connection.checkRecv = () => check() || this.#isPaused
  }

  get closeReason(): CloseReason | undefined {
    return this.#closeReason
  }

  pause(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return
    this.#isPaused = isPaused
    // The library reads whenever this is said.
    if (!isPaused) this.#connection.stream.emit('readable')
  }

  /** How many bytes the message had that has just been let through, where it was cut. */
  takeCut(): number | undefined {
    const cutFrom = this.#cutFrom
    this.#cutFrom = undefined
    return cutFrom
  }

  #next(): Frame | false {
    if (this.#isReceiving) return this.#receive()
    for (;;) {
      const frame = this.#isPaused ? false : this.#read()
      if (frame === false) return false
      const passed = this.#pass(frame)
      if (passed !== undefined) return passed
    }
  }

  #read(): Frame | false {
    this.#isReceiving = true
    try {
      return this.#receive()
    } finally {
      this.#isReceiving = false
    }
  }

  #pass(frame: Frame): Frame | undefined {
    const { id, content, fields = {} } = frame
    if (id === basicHeader) return this.#begin(frame)
    if (id === undefined && content !== undefined) return this.#part(frame, content)
    if (id === connectionClose) {
      this.#closeReason = { code: Number(fields['replyCode']), text: String(fields['replyText']) }
    }
    return frame
  }

  #begin(frame: Frame): Frame {
    const size = frame.size ?? 0
    this.#rest = size
    this.#framesLeft = Math.ceil(size / meanFrameBytesMin) + 1
    this.#cutFrom = size > messageBytesMax ? size : undefined
    this.#room = this.#cutFrom === undefined ? size : shownBytes
    return { ...frame, size: this.#room }
  }

  /** @throws Error which ends the connection */
  #part(frame: Frame, content: Buffer): Frame | undefined {
    if (this.#framesLeft-- <= 0) throw new Error('the server sends a message in too many frames')
    this.#rest -= content.length
    if (this.#rest < 0) throw new Error('the server sends more of a message than it has said')
    if (this.#room === 0) return undefined
    const part = content.subarray(0, this.#room)
    this.#room -= part.length
    // What is cut is not to keep all of it in memory.
    return { ...frame, content: part.length < content.length ? Buffer.from(part) : part }
  }
}
