/** Colours of the page as a canvas needs them: what a token stands for now, in the theme that is seen. */
export class Colours {
  readonly #probe: HTMLElement
  readonly #known = new Map<string, string>()

  constructor(place: HTMLElement) {
    this.#probe = document.createElement('span')
    this.#probe.hidden = true
    place.append(this.#probe)
  }

  of(token: string): string {
    const known = this.#known.get(token)
    if (known !== undefined) return known
    this.#probe.style.color = `var(${token})`
    const colour = getComputedStyle(this.#probe).color
    this.#known.set(token, colour)
    return colour
  }

  /** The same, so that what lies behind is seen. */
  thin(token: string, share: number): string {
    const name = `${token} ${share}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    this.#probe.style.color = `color-mix(in srgb, var(${token}) ${Math.round(share * 100)}%, transparent)`
    const colour = getComputedStyle(this.#probe).color
    this.#known.set(name, colour)
    return colour
  }

  /** The theme is another one. */
  forget(): void {
    this.#known.clear()
  }
}
