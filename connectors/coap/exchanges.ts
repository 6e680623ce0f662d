import { randomBytes, randomInt } from 'node:crypto'
import type { Socket } from 'node:dgram'
import { generate, type NamedOption, type Packet, type ParsedPacket, parse } from 'coap-packet'

/** RFC 7252, section 4.8. */
const ackTimeoutMs = 2_000
const ackRandomFactor = 1.5
const retransmitMax = 4

/** Time for an answer that is sent by itself, after the question was acknowledged. */
const separateMs = 60_000

/** Time for a device to say that it does not observe any more: nothing depends on it. */
const farewellMs = 500

interface ExchangesNeeds {
  /**
   * What was sent to who observes, and is not acknowledged yet.
   * @param isAnswer whether it answers the newest registration, and so is newer than all before
   */
  readonly onNotification: (packet: ParsedPacket, isAnswer: boolean) => void
  readonly fail: (error: Error) => void
}

/** A question that is sent until somebody answers. */
interface Question {
  readonly messageId: number
  readonly datagram: Buffer
  readonly take: (packet: ParsedPacket) => void
  readonly fail: (error: Error) => void
  waitMs: number
  attemptsLeft: number
  isAcknowledged: boolean
  timer?: NodeJS.Timeout
}

/** Messages to one device and from it: RFC 7252, section 4. What cannot be read is as if it had not come. */
export class Exchanges {
  readonly #socket: Socket
  readonly #needs: ExchangesNeeds
  /** What a device tells an observer by; nobody else knows it. */
  readonly #token = randomBytes(8)
  readonly #questions = new Map<string, Question>()
  #messageId = randomInt(0x1_00_00)
  #isObserving = true

  /** @param socket connected to the device */
  constructor(socket: Socket, needs: ExchangesNeeds) {
    this.#socket = socket
    this.#needs = needs
    socket.on('message', (datagram) => this.#take(datagram))
    socket.on('error', (error) => needs.fail(lost(error)))
  }

  /** Asks to be told of changes; a second time while that is under way changes nothing. */
  register(options: readonly NamedOption[]): void {
    if (!this.#isObserving || this.#questions.has(keyOf(this.#token))) return
    const { fail } = this.#needs
    this.#ask(this.#token, options, { take: () => undefined, fail })
  }

  /** @throws Error when there is no answer */
  async ask(options: readonly NamedOption[]): Promise<ParsedPacket> {
    if (!this.#isObserving) throw new Error('the observation has ended')
    const { promise, resolve, reject } = Promise.withResolvers<ParsedPacket>()
    this.#ask(randomBytes(8), options, { take: resolve, fail: reject })
    return await promise
  }

  acknowledge({ confirmable, messageId }: ParsedPacket): void {
    if (confirmable) this.#write(generate({ code: '0.00', ack: true, messageId }))
  }

  /** Waits for no answer any more, and has sent back whatever comes. */
  giveUp(): void {
    this.#isObserving = false
    for (const { timer, fail } of this.#questions.values()) {
      clearTimeout(timer)
      fail(new Error('the observation has ended'))
    }
    this.#questions.clear()
  }

  /** Says that nothing more is wanted, after all else. */
  async end(options: readonly NamedOption[]): Promise<void> {
    const answered = Promise.withResolvers<void>()
    const patience = setTimeout(answered.resolve, farewellMs)
    const take = () => answered.resolve()
    this.#socket.on('error', take)
    this.#ask(this.#token, options, { take, fail: take })
    await answered.promise
    clearTimeout(patience)
    this.giveUp()
  }

  #ask(
    token: Buffer,
    options: readonly NamedOption[],
    { take, fail }: Pick<Question, 'take' | 'fail'>,
  ): void {
    this.#messageId = (this.#messageId + 1) & 0xff_ff
    const messageId = this.#messageId
    const packet: Packet = {
      code: 'GET',
      confirmable: true,
      messageId,
      token,
      options: [...options],
    }
    const question: Question = {
      messageId,
      datagram: generate(packet),
      take,
      fail,
      waitMs: ackTimeoutMs * (1 + Math.random() * (ackRandomFactor - 1)),
      attemptsLeft: retransmitMax,
      isAcknowledged: false,
    }
    this.#questions.set(keyOf(token), question)
    this.#transmit(question)
  }

  #transmit(question: Question): void {
    this.#write(question.datagram)
    question.timer = setTimeout(() => {
      if (question.attemptsLeft-- === 0) {
        question.fail(new Error('the device does not answer'))
        return
      }
      question.waitMs *= 2
      this.#transmit(question)
    }, question.waitMs)
  }

  #take(datagram: Buffer): void {
    const packet = parsed(datagram)
    if (packet === undefined) return
    if (packet.code === '0.00') this.#takeEmpty(packet)
    else if (!/^[245]/.test(packet.code)) this.#sendBack(packet)
    else if (!packet.reset) this.#takeAnswer(packet)
  }

  #takeEmpty(packet: ParsedPacket): void {
    // RFC 7252, section 4.3: whoever asks in this way whether somebody is there is told so.
    if (packet.confirmable) this.#sendBack(packet)
    const question = this.#questions
      .values()
      .find(({ messageId }) => messageId === packet.messageId)
    if (question === undefined) return
    if (packet.reset) {
      clearTimeout(question.timer)
      question.fail(new Error('the device does not take the request (reset)'))
    }
    if (!packet.ack || question.isAcknowledged) return
    clearTimeout(question.timer)
    question.isAcknowledged = true
    question.timer = setTimeout(
      () => question.fail(new Error('the device does not answer')),
      separateMs,
    )
  }

  #takeAnswer(packet: ParsedPacket): void {
    const key = keyOf(packet.token)
    const question = this.#questions.get(key)
    if (packet.ack && question?.messageId !== packet.messageId) return
    const isNotification = this.#isObserving && key === keyOf(this.#token)
    if (question !== undefined) {
      clearTimeout(question.timer)
      this.#questions.delete(key)
    }
    if (isNotification) {
      const isAnswer = question !== undefined && (packet.ack || question.isAcknowledged)
      this.#needs.onNotification(packet, isAnswer)
    } else if (question === undefined) this.#sendBack(packet)
    else {
      this.acknowledge(packet)
      question.take(packet)
    }
  }

  /** Has the other side forget what it is about: RFC 7641, section 3.6. */
  #sendBack({ messageId, ack }: ParsedPacket): void {
    if (!ack) this.#write(generate({ code: '0.00', reset: true, messageId }))
  }

  #write(datagram: Buffer): void {
    this.#socket.send(datagram, (error) => {
      if (error !== null) this.#needs.fail(lost(error))
    })
  }
}

function keyOf(token: Buffer): string {
  return token.toString('hex')
}

function parsed(datagram: Buffer): ParsedPacket | undefined {
  try {
    return parse(datagram)
  } catch {
    return undefined
  }
}

function lost(error: Error): Error {
  const isNobody = 'code' in error && error.code === 'ECONNREFUSED'
  const message = isNobody ? 'no server listens at this address' : 'datagrams cannot be sent'
  return new Error(message, { cause: error })
}
