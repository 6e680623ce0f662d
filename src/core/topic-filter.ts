/** Whether a filter matches a topic, section 4.7. */
export function matches(filter: string, topic: string): boolean {
  const levels = topic.split('/')
  const wanted = filter.split('/')
  for (const [index, level] of wanted.entries()) {
    // "#" stands for the level above it, too (section 4.7.1.2).
    if (level === '#') return levels.length >= index
    if (level !== '+' && level !== levels[index]) return false
    if (index >= levels.length) return false
  }
  return wanted.length === levels.length
}

/** Whether one filter matches all that another does. */
export function covers(wide: string, narrow: string): boolean {
  const levels = narrow.split('/')
  const wanted = wide.split('/')
  for (const [index, level] of wanted.entries()) {
    if (level === '#') return levels.length >= index
    const other = levels[index]
    if (other === undefined || other === '#') return false
    if (level !== '+' && level !== other) return false
  }
  return wanted.length === levels.length
}
