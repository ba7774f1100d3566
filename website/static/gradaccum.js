/* Explorables and predictions without a kernel: every picture and every outcome has been computed when the site was built. */
"use strict";

(() => {
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // files may not be fetched for it

  const waiting = new Map();

  /** Called by explorables/NAME.js with all states of an explorable. */
  window.gradaccumData = (data) => waiting.get(data.name)(data);

  const loaded = new Map();

  function load(name, root) {
    if (!loaded.has(name)) {
      loaded.set(name, new Promise((resolve, reject) => {
        waiting.set(name, resolve);
        const script = document.createElement("script");
        script.src = `${root}explorables/${name}.js`;
        script.onerror = reject;
        document.head.append(script);
      }));
    }
    return loaded.get(name);
  }

  /** A control as a number: the place of its value among those that it offers. */
  class Control {
    constructor(box) {
      this.box = box;
      this.kind = { checkbox: "checkbox", number: "number", range: "number" }[box.type] ?? "select";
      this.count = { checkbox: 2, number: (box.max - box.min) / box.step + 1, select: box.length }[this.kind];
      this.output = box.parentElement.querySelector("output");
    }
    get place() {
      if (this.kind === "checkbox") return Number(this.box.checked);
      if (this.kind === "select") return this.box.selectedIndex;
      const place = Math.round((this.box.valueAsNumber - this.box.min) / this.box.step);
      return Math.min(Math.max(place || 0, 0), this.count - 1);
    }
    set place(place) {
      if (this.kind === "checkbox") this.box.checked = place === 1;
      else if (this.kind === "select") this.box.selectedIndex = place;
      else this.box.value = Number(this.box.min) + place * this.box.step;
    }
    /** Say the value of a slider in a number. */
    say() {
      if (this.output) this.output.value = this.box.value;
    }
  }

  const FRAME = 700; // milliseconds between two pictures, as in a notebook

  /** A button that plays the slider next to it to its end, and stops when it is pressed again or another control is used. */
  class Player {
    constructor(button, explorable) {
      this.button = button;
      this.explorable = explorable;
      this.control = explorable.controls.find(({ box }) => button.parentElement.contains(box));
      button.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
      explorable.form.addEventListener("input", () => this.stop());
      explorable.form.addEventListener("click", ({ target }) => target === button || this.stop());
    }
    play() {
      const atEnd = this.control.place === this.control.count - 1;
      this.timer = setInterval(() => this.go(this.control.place + 1), FRAME);
      this.button.textContent = "Pause";
      this.go(atEnd ? 0 : this.control.place + 1);
    }
    go(place) {
      this.control.place = place;
      this.explorable.show();
      if (place === this.control.count - 1) this.stop();
    }
    stop() {
      clearInterval(this.timer);
      this.timer = null;
      this.button.textContent = "Play";
    }
  }

  class Explorable {
    constructor(section, data) {
      this.section = section;
      this.data = data;
      this.form = section.querySelector("form");
      this.picture = section.querySelector("img");
      this.controls = [...this.form.querySelectorAll("select, input")].map((box) => new Control(box));
      this.ready = new Map();
      this.presets = [...this.form.querySelectorAll("button[data-preset]")].map((button) => {
        const places = button.dataset.preset.split(",").map(Number);
        button.addEventListener("click", () => {
          this.controls.forEach((control, k) => { control.place = places[k]; });
          this.show();
        });
        return places;
      });
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.addEventListener("input", () => this.show());
      this.form.addEventListener("change", () => this.controls.forEach((control) => { control.place = control.place; }));
      this.form.querySelectorAll("button[data-play]").forEach((button) => new Player(button, this));
      this.form.hidden = false;
      this.preload();
    }
    get places() { return this.controls.map((control) => control.place); }
    state(places) {
      const [picture, caption, code] = this.data.states[places.reduce((sum, place, k) => sum * this.controls[k].count + place, 0)];
      const source = `${this.section.dataset.root}explorables/${this.data.pictures[picture]}`;
      return { source, caption, code: this.data.codes[code] };
    }
    show() {
      this.controls.forEach((control) => control.say());
      const { source, caption, code } = this.state(this.places);
      this.picture.src = source;
      this.picture.alt = caption;
      this.section.querySelector("figcaption").textContent = caption;
      this.section.querySelector(".explorable-code").innerHTML = code;
      this.preload();
    }
    /** Fetch and decode the pictures that are one move away, so that the next one is there at once. */
    preload() {
      const here = this.places;
      const near = this.controls.flatMap(({ kind, count }, k) => Array.from({ length: count }, (_, place) => place)
        .filter((place) => kind !== "number" || Math.abs(place - here[k]) <= 3)
        .map((place) => here.with(k, place)));
      const sources = new Set([...this.presets, ...near].map((places) => this.state(places).source));
      for (const source of this.ready.keys()) if (!sources.has(source)) this.ready.delete(source);
      for (const source of sources) {
        if (this.ready.has(source)) continue;
        const image = new Image();
        image.src = source;
        image.decode().catch(() => {}); // one that is dropped before it has come
        this.ready.set(source, image);
      }
    }
  }

  function ask(form) {
    const button = form.querySelector("button");
    form.addEventListener("input", () => { button.disabled = false; });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const choice = Number(form.querySelector("input:checked").value);
      form.querySelector(".outcome").append(form.querySelectorAll("template")[choice].content.cloneNode(true));
      form.querySelector("fieldset").disabled = button.disabled = true;
      button.textContent = "Committed";
    });
  }

  /** Let keys reach what is wider than its place: an element that can be scrolled takes the focus. */
  const scrolling = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".scrolling, .cell_output .output").forEach((one) => scrolling.observe(one));
    document.querySelectorAll("form.prediction").forEach(ask);
    const near = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        load(target.dataset.name, target.dataset.root).then((data) => new Explorable(target, data));
      }
    }, { rootMargin: "600px" });
    document.querySelectorAll(".explorable").forEach((section) => near.observe(section));
  });
})();
