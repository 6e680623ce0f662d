import type { FastifyReply } from 'fastify'

/** How long an answer may be read before the connection breaks: some round trips of a slow network. */
const lingerMs = 1_000

/**
 * Ends the connection with the answer, because what has not arrived yet of the request is not waited for.
 *
 * A connection that is closed with bytes unread is reset, and the answer is lost with it where the sender is
 * still sending. So our side ends first, and the rest a little later (RFC 9112, section 9.6).
 */
export function endWithAnswer(reply: FastifyReply): void {
  void reply.header('connection', 'close')
  const { socket } = reply.raw
  if (socket === null) return
  // What Node calls once the answer is sent.
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    timer.unref()
    socket.once('end', () => socket.destroy())
    socket.once('close', () => clearTimeout(timer))
  }
}
