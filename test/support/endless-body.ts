import { connect } from 'node:net'

/** Sends a body until the other side ends the connection, or so many bytes are taken. Resolves with how many were. */
export async function pour(port: number, bytesMax: number): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 999999999999999\r\n\r\n')
  const chunk = Buffer.alloc(1_000_000)
  let bytes = 0
  for (; bytes < bytesMax && !socket.destroyed; bytes += chunk.length) {
    const taken = new Promise((resolve) => socket.write(chunk, resolve))
    await Promise.race([taken, closed])
  }
  socket.destroy()
  return bytes
}
