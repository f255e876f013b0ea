// The daemon's time: the wall clock's, or the samples' with `clock: samples`.

let samplesNow: number | null = null;

export function setSamplesClock(time: number | null): void {
  samplesNow = time;
}

// Seconds since 1970.
export const now = (): number => samplesNow ?? Date.now() / 1000;
